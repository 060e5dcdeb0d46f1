/** Names of text fields in common languages, the English ones in the singular. For longer names, the last word counts. */
const TEXT_NAMES: ReadonlySet<string> = new Set(
  [
    'text content body message msg comment prompt utterance reply post tweet title subject headline description',
    'caption summary note remark bio quote question answer query instruction response completion transcript sentence',
    'paragraph passage story review feedback dialog dialogue lyric joke essay reasoning thinking rationale',
    'nachricht kommentar betreff inhalt beschreibung titel bewertung frage antwort beitrag bemerkung anmerkung',
    'comentario mensaje texto asunto contenido reseña opinión descripción pregunta respuesta título',
    'commentaire avis texte objet contenu sujet titre question réponse',
    'comentário mensagem conteúdo assunto avaliação descrição resposta',
    'recensione messaggio commento testo oggetto contenuto descrizione domanda risposta',
    'bericht reactie tekst onderwerp inhoud beoordeling vraag antwoord',
    'treść wiadomość komentarz opinia tekst temat wpis opis pytanie odpowiedź tytuł',
    'meddelande kommentar ämne innehåll beskrivning recension fråga svar',
    'mesaj yorum metin konu içerik başlık açıklama soru cevap',
    'pesan komentar teks perihal judul isi ulasan',
    'сообщение комментарий текст тема отзыв содержание заголовок описание вопрос ответ повідомлення коментар',
    'σχόλιο μήνυμα κείμενο θέμα περιεχόμενο τίτλος',
    'الرسالة رسالة تعليق التعليق نص النص الموضوع موضوع محتوى المحتوى',
    'הודעה תגובה טקסט נושא תוכן כותרת',
    'संदेश टिप्पणी विषय पाठ सामग्री शीर्षक',
    '内容 评论 消息 文本 主题 標題 标题 內容 評論 訊息',
    'コメント 本文 メッセージ 件名 内容 テキスト',
    '내용 댓글 메시지 제목 본문',
    'ข้อความ ความคิดเห็น หัวข้อ เนื้อหา',
  ]
    .flatMap((names) => names.split(' '))
    .concat('bình luận', 'tin nhắn', 'nội dung', 'chủ đề', 'tiêu đề'),
);

const ID_WORDS: ReadonlySet<string> = new Set(['id', 'uuid', 'guid', 'key', 'hash', 'sha']);

/** Names are untrusted input: only the end of a longer name is examined. */
const MAX_NAME_CHARS = 64;

/** Whether a name is that of a text field: `text`, `comments`, `full_text`, `reviewBody`, `Nachricht`. */
export function isTextName(name: string): boolean {
  const word = lastWord(name);
  const names = [name.trim().toLowerCase(), word, word.replace(/ies$/, 'y').replace(/s$/, '')];
  return names.some((each) => TEXT_NAMES.has(each));
}

/** Whether a name is that of an id field: `dialogue_id`, `threadKey`. */
export function isIdName(name: string): boolean {
  const word = lastWord(name);
  return ID_WORDS.has(word) || ID_WORDS.has(word.replace(/s$/, ''));
}

function lastWord(name: string): string {
  const spaced = name.slice(-MAX_NAME_CHARS).replace(/([a-z\d])([A-Z])/g, '$1 $2');
  return (
    spaced
      .match(/[\p{L}\p{M}]+/gu)
      ?.at(-1)
      ?.toLowerCase() ?? ''
  );
}

const MAX_ID_CHARS = 512;

/** Whether a string looks like an id, a URL or a time: one token of such characters, with a digit, `_` or `://`. */
export function looksLikeId(text: string): boolean {
  const token = text.length <= MAX_ID_CHARS ? text.trim() : '';
  return /^[\w.:/+=@#?&%~-]+$/.test(token) && /\d|_|:\/\//.test(token);
}

const REFERENCES: readonly RegExp[] = [
  /^[a-z][a-z\d+.-]*:\/\/\S+$/i, // a URL
  /^\d[\d\s.:,/+-]*(?:T[\d.:]+)?(?:Z|[+-]\d\d:?\d\d)?$/, // a date or a time
  /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i, // a UUID
  /^(?=.*\d)[\da-f]{32,}$/i, // a hash
];

/** Whether a string has the form of a URL, a time, a UUID or a hash. */
export function isReference(text: string): boolean {
  const token = text.length <= MAX_ID_CHARS ? text.trim() : '';
  return REFERENCES.some((form) => form.test(token));
}

/** Maximum characters of a string to examine. */
const MAX_EXAMINED_CHARS = 1024;
const ONE_TOKEN = /^[!-~]*$/;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;

/** Whether a string has at least `count` words; in scripts without spaces between words, two characters count as a word. */
export function hasWords(text: string, count: number): boolean {
  const start = text.length > MAX_EXAMINED_CHARS ? text.slice(0, MAX_EXAMINED_CHARS) : text;
  if (ONE_TOKEN.test(start)) return count === 1 && /[a-z]/i.test(start);
  let words = 0;
  for (const token of start.split(/\s+/)) if (/\p{L}/u.test(token) && ++words >= count) return true;
  return (start.match(UNSPACED)?.length ?? 0) >= 2 * count;
}

/**
 * Counts the words at the start of a string. Tokens with digits or certain signs, as in paths and links, do not count. In scripts
 * without spaces between words, three characters count as a word.
 */
export function countWords(text: string): number {
  const start = text.slice(0, MAX_EXAMINED_CHARS);
  const words = start.split(/\s+/).filter((token) => /\p{L}/u.test(token) && !NO_WORD.test(token)).length;
  const unspaced = start.match(UNSPACED)?.length ?? 0;
  return Math.max(words, unspaced / 3);
}

const NO_WORD = /[\p{N}_@/\\=]/u;

const MIN_ENCODED_CHARS = 256;

/** Whether a string is base64 or hex data: long, and without white space. */
export function looksEncoded(text: string): boolean {
  if (text.length < MIN_ENCODED_CHARS) return false;
  return /^(?:data:[\w/+.;=-]{0,100},)?[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}
