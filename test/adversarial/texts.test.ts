import { describe, expect, test } from 'vitest';
import { nearest } from '../../src/config/usage-error.ts';
import { parseDuration } from '../../src/config/values/quantities.ts';
import { parseGuardUrls } from '../../src/config/values/guard-url.ts';
import { parseRunName, runNameFromPath } from '../../src/config/values/run-name.ts';
import { encodePath, decodePath } from '../../src/domain/file-path.ts';
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
import {
  classifyGrpc,
  classifyGrpcProbe,
  classifyHttp,
  retryAfterMs,
} from '../../src/guard/faults/classify.ts';
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
import { columnLabel } from '../../src/formats/record.ts';
import { isEncodedText } from '../../src/formats/encoding/encoded-text.ts';
import { JsonFields } from '../../src/formats/json/json-fields.ts';
import { chooseTextColumns } from '../../src/formats/transcripts/columns.ts';
import { decodePlanLine } from '../../src/ingest/plan/plan-line.ts';
import { containerKind } from '../../src/formats/unpack/container-kind.ts';
import { markupKind } from '../../src/ingest/recognise/markup-kind.ts';
import { wrappedArray } from '../../src/ingest/recognise/array-head.ts';
import { textSpans } from '../../src/moderate/windows/text-spans.ts';
import { parseOutcomeLine } from '../../src/record/outcomes/outcome-schema.ts';
import { parseChainLine } from '../../src/record/log/chain-line.ts';
import { expectLinearGrowth } from './growth.ts';
import { SEED, textPumps } from './pumps.ts';

const here = (value: string) => ({ value, place: 'here' });
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
  'the label of a column': (text) => columnLabel(text, 1),
  'the delimiter of a table': (text) => sniffDelimiter(Buffer.from(text), null),
  'the line break of a table': (text) => sniffLineBreak(Buffer.from(text)),
  'the header of a table': (text) => hasHeader([text.split(','), text.split('"')], []),
  'a JSON record': (text) => parseJsonRecord(Buffer.from(text), 1, 1),
  'a JSON string as a record': (text) =>
    parseJsonRecord(Buffer.from(JSON.stringify({ messages: text })), 1, 1),
  'repeated names': (text) => hasRepeatedNames(JSON.stringify({ [text]: text }), { [text]: text }),
  'the first element of an array': (text) => arrayHead.firstElement(Buffer.from(`[${text}`)),
  'an array cut off': (text) => arrayHead.beginsWithCutObject(Buffer.from(`[{${text}`)),
  'an open array': (text) => arrayHead.isOpenArray(Buffer.from(`[${text}`), Buffer.from(text)),
  'a wrapped array': (text) => wrappedArray(Buffer.from(`{"a":${text}`)),
  'an array of messages': (text) =>
    wrappedArray(Buffer.from(`{"messages":[{"date":1,"from":"a","text":"b"},${text}`)),
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
  'a version reply in JSON': (text) => decodeVersionReply(versionReply(JSON.stringify({ [text]: text }))),
  'a verdict over REST': (text) => decodeVerdict(Buffer.from(text)),
  'an error over REST': (text) =>
    classifyHttp({ status: 400, headers: { 'retry-after': text }, body: Buffer.from(text), about: 'text' }),
  'an error over gRPC': (text) => [
    ...[text, `a${text}`, `Unexpected <class '${text}`].map((details) => classifyGrpc(3, details)),
    ...[text, `Model guard ${text}`].map((details) => classifyGrpcProbe(2, details)),
  ],
  'a request over HTTP': (text) => inferCall(text),
  'a text in a request over HTTP': (text) =>
    inferCall(JSON.stringify({ id: text, inputs: [{ data: [text] }] })),
  'a reply over KServe HTTP': (text) => readInferReply(Buffer.from(text), undefined),
  'an error over KServe HTTP': (text) =>
    classifyHttp({ status: 500, headers: {}, body: Buffer.from(text), about: 'model' }),
  'Retry-After': (text) => retryAfterMs(text),
  'the name of a category': (text) => categoryBySpelling(text),
  'the nearest key': (text) => nearest(text, ['sources', 'guard', text]),
  'a duration': (text) => parseDuration(here(text)),
  'the URL of a guard': (text) => parseGuardUrls([here(`grpc://${text}`)]),
  'the name of a run': (text) => parseRunName(here(text)),
  'a name made for a run': (text) => runNameFromPath(text),
  'a recorded path': (text) => decodePath(encodePath(text)),
  'a foreign string': (text) => escapeText(text),
  'an outcome line': (text) => parseOutcomeLine(text),
  'a plan line': (text) => decodePlanLine(Buffer.from(text)),
  'a line of the chain': (text) => parseChainLine(Buffer.from(text)),
};

describe(`of seed ${SEED}`, () => {
  const pumps = textPumps(SEED, 80);

  test.each(Object.entries(PARSERS))('%s takes linear time', async (name, parse) => {
    for (const { name: made, of } of pumps) await expectLinearGrowth(of, parse, `${name}, ${made}`);
    expect(pumps.length).toBeGreaterThan(100);
  });
});
