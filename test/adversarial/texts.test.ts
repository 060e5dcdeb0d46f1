import { describe, expect, test } from 'vitest';
import { escapeText } from '../../src/domain/text/escape-text.ts';
import { beginsWithMessages, ChatReader } from '../../src/formats/chat-reader.ts';
import { sniffDelimiter, sniffLineBreak } from '../../src/formats/csv/csv-dialect.ts';
import { hasHeader } from '../../src/formats/csv/header-guess.ts';
import { hasRepeatedNames, parseJsonRecord } from '../../src/formats/json/json-record.ts';
import { recordsOf } from '../../src/formats/record.ts';
import { decodeImage, isImageUrl } from '../../src/formats/transcripts/attachments.ts';
import { parseHumanAssistant } from '../../src/formats/transcripts/layouts/preference.ts';
import { splitResponse } from '../../src/formats/transcripts/generations.ts';
import * as wording from '../../src/formats/transcripts/wording.ts';
import { classifyGrpc, classifyGrpcProbe, classifyHttp } from '../../src/guard/faults/classify.ts';
import { readInferReply } from '../../src/guard/kserve-http/infer-reply.ts';
import { categoryBySpelling } from '../../src/domain/words/category-spelling.ts';
import { decodeVerdict } from '../../src/guard/rest/rest-verdict.ts';
import { decodeVersionReply } from '../../src/guard/tensors/version-reply.ts';
import { encodeStrings } from '../../src/guard/tensors/raw.ts';
import { readInferCall } from '../../src/guard-server/http/infer-request.ts';
import { RequestError } from '../../src/guard-server/contract/request-error.ts';
import { LiteModel } from '../../src/guard-server/lite/model.ts';
import { normalise } from '../../src/guard-server/lite/normalise.ts';
import * as arrayHead from '../../src/ingest/recognise/array-head.ts';
import { isEncodedText } from '../../src/formats/encoding/encoded-text.ts';
import { JsonFields } from '../../src/formats/json/json-fields.ts';
import { chooseTextColumns } from '../../src/formats/transcripts/columns.ts';
import { containerKind } from '../../src/formats/unpack/container-kind.ts';
import { markupKind } from '../../src/ingest/recognise/markup-kind.ts';
import { textSpans } from '../../src/moderate/windows/text-spans.ts';
import { expectLinearGrowth } from './growth.ts';
import { SEED, textPumps } from './pumps.ts';

const lite = await LiteModel.load();

const inferCall = (text: string): unknown => {
  try {
    return readInferCall(Buffer.from(text), undefined, { name: 'guard', version: '' });
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
};

const versionReply = (text: string) => {
  const raw = encodeStrings([text]);
  const output = { name: 'VERSION', datatype: 'BYTES', shape: [1, 1], parameters: {} };
  return { model_name: 'guard', model_version: '1', id: '', outputs: [output], raw_output_contents: [raw] };
};

const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  'the kind of markup': (text) => markupKind(Buffer.from(text), true, 'page.html'),
  'the kind of a file that holds others': (text) =>
    ['', 'From: a\n', 'From a '].map((start) =>
      containerKind(Buffer.from(start + text), { isCompressed: false, name: 'a' }),
    ),
  'encoded text': (text) => isEncodedText(text, { isAll: true }),
  'the columns of a table': (text) => chooseTextColumns([new JsonFields({ a: text }, null)], null),
  'the delimiter of a table': (text) => sniffDelimiter(Buffer.from(text), null),
  'the line break of a table': (text) => sniffLineBreak(Buffer.from(text)),
  'the header of a table': (text) => hasHeader([text.split(','), text.split('"')], []),
  'a JSON record': (text) => parseJsonRecord(Buffer.from(text), 1, 1),
  'repeated names': (text) => hasRepeatedNames(JSON.stringify({ [text]: text }), { [text]: text }),
  'the first element of an array': (text) => arrayHead.firstElement(Buffer.from(`[${text}`)),
  'an array cut off': (text) => arrayHead.beginsWithCutObject(Buffer.from(`[{${text}`)),
  'a wrapped array': (text) => arrayHead.wrappedArray(Buffer.from(`{"a":${text}`)),
  'the messages of a chat': (text) =>
    ['', '31/12/2023, 21:15 - ', '[31/12/2023, 21:15] A: '].map((start) => [
      beginsWithMessages(Buffer.from(start + text), true),
      recordsOf(new ChatReader(2 ** 24), Buffer.from(`${start}${text}\n${start}`), true),
    ]),
  'an embedded image': (text) => [isImageUrl(text), decodeImage(text), decodeImage(`data:${text}`)],
  'turns of Human and Assistant': (text) => parseHumanAssistant(text),
  'a name of text or ids': (text) => [wording.isTextName(text), wording.isIdName(text)],
  'an id, a reference, words': (text) => [
    wording.looksLikeId(text),
    wording.isReference(text),
    wording.hasWords(text, 3),
    wording.looksEncoded(text),
  ],
  'spans of a long text': (text) => [...textSpans(text, 512)],
  'chunks of a response': (text) => splitResponse(text, 4),
  'the normal form of a text': (text) => normalise(text),
  'the embedded model': (text) => lite.scoreText(text),
  'a version reply': (text) => decodeVersionReply(versionReply(text)),
  'a verdict over REST': (text) => decodeVerdict(Buffer.from(text)),
  'an error over REST': (text) =>
    classifyHttp({ status: 400, headers: { 'retry-after': text }, body: Buffer.from(text), about: 'text' }),
  'an error over gRPC': (text) => [
    ...[text, `a${text}`, `Unexpected <class '${text}`].map((details) => classifyGrpc(3, details)),
    ...[text, `Model guard ${text}`].map((details) => classifyGrpcProbe(2, details)),
  ],
  'a text in a request over HTTP': (text) =>
    inferCall(JSON.stringify({ id: text, inputs: [{ data: [text] }] })),
  'a reply over KServe HTTP': (text) => readInferReply(Buffer.from(text), undefined),
  'the name of a category': (text) => categoryBySpelling(text),
  'a foreign string': (text) => escapeText(text),
};

describe(`of seed ${SEED}`, () => {
  const pumps = textPumps(SEED, 80);

  test.each(Object.entries(PARSERS))('%s takes linear time', async (name, parse) => {
    for (const { name: made, of } of pumps) await expectLinearGrowth(of, parse, `${name}, ${made}`);
    expect(pumps.length).toBeGreaterThan(100);
  });
});
