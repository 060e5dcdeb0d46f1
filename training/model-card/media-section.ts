/** The model card's section on images and audio, which are not trained here, as Markdown. */
export const MEDIA_SECTION = `## Images and audio

**An image** is brought into normal form as for any guard and looked at by the MobileNetV2 network of
[nsfwjs](https://github.com/infinitered/nsfwjs) 4.2.1 (MIT), whose weights come with this package (\`training/image-model/make.mjs\`). It tells five classes
apart, and they become one probability, of Sexual Content:

| class   | as its authors describe it               | counts |
| ------- | ---------------------------------------- | -----: |
| Porn    | pornographic images, sexual acts         |      1 |
| Hentai  | pornographic drawings                    |      1 |
| Sexy    | sexually explicit images, no pornography |    0.5 |
| Drawing | harmless drawings                        |      0 |
| Neutral | harmless images                          |      0 |

The probability is the sum of the classes' probabilities, each as much as it counts; from 0.5 on the image is flagged.
These numbers were chosen by us and fitted to nothing. A caption is judged as a text. SCORE and Sexual Content are the
worse of picture and caption, and the image is flagged if either is; the other twelve categories are the caption's, and
absent without one.

- It looks for nudity and sexual acts alone. Violence, weapons, hate symbols, self-harm, and every word that is written
  in a picture pass it unseen. There is no probe for Child Sexual Exploitation.
- **We have not measured its quality.** Its authors speak of about 90 % accuracy for their small network. We know
  only that it flagged none of 23 harmless files that decoders are tested with, and was badly mistaken about some
  generated patterns: soft grey spots on black were pornography to it, with a probability of 0.92.
- The whole picture is squeezed into 224 × 224 pixels, whatever its shape: what is small in it is lost. Of an
  animation it sees the frames it is sent.
- Scores depend on the pixels, the network and its code, and on nothing judged before or beside it. All machines run
  the same SIMD build of the WebAssembly backend; where that does not run, images are answered with
  \`PROBE_NOT_LOADED\`.
- It is loaded with the first image. On one core of a small cloud machine that took 0.6 s of computing and 140 MB of
  memory, and an image 0.09 s; images are looked at one after another.

Its artifacts are \`lite-image-network\`, \`lite-image-weights\`, \`lite-image-rules\` (the table above) and
\`lite-image-runtime\` (the code that runs the network, the version of sharp, and that of the rules for the normal form). They are part of the fingerprint from the start, whether an image was judged or not.

**A clip** is judged by its transcript, as a text. Nothing here can hear: without a transcript a clip gets
\`PROBE_NOT_LOADED\`, never a verdict. A transcript that leaves something out leaves it unjudged.
`;
