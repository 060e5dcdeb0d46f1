import { describe, expect, it } from 'vitest';
import { ITEM_CODES } from '../../../src/domain/item-error.ts';
import { columnsIn } from '../../../src/domain/text/width.ts';
import type { Summary } from '../../../src/record/summary/summary.ts';
import { summaryLines } from '../../../src/record/summary/summary-text.ts';

const SUMMARY: Summary = {
  schema: 1,
  run: '20261121T020000Z-nightly-ab12',
  dir: '/runs/20261121T020000Z-nightly-ab12',
  status: 'finished',
  policy: { thresholds: null, allowFlagged: false, allowPartial: false },
  trial: null,
  gates: [],
  items: 12_345,
  verdicts: 12_340,
  errors: 5,
  flagged: 40,
  guard_flagged: 38,
  by_decision: { allow: 12_300, review: 10, block: 30 },
  by_category: { violent_crimes: 4, hate: 31 },
  restricted: 0,
  decisions_by_category: {
    violent_crimes: { allow: 0, review: 2, block: 2 },
    hate: { allow: 0, review: 1, block: 30 },
  },
  without_category: 7,
  decisions_without_category: { allow: 0, review: 7, block: 0 },
  category_unknown: {},
  partial: 0,
  judged_as_whole: { conversations: 0, earlier_turns: 0 },
  by_error_code: { MALFORMED_ROW: 3, TIMEOUT: 2 },
  by_modality: { text: 12_345 },
  unsupported_files: {},
  guards: [{ endpoint: 'grpc://gpu-1:8001', kind: 'triton', fingerprint: 'sha256:aa', verdicts: 12_340 }],
  reused: 0,
  reused_from: [],
  copies: 0,
  seconds: 125.5,
  pass: 1,
  thresholds_unapplied: 0,
  without_ffmpeg: 0,
  without_text_column: 0,
  skipped: { 'files of earlier runs': 9 },
  empty_sources: { count: 0, paths: [] },
  chain_head: 'c'.repeat(64),
  lost_to_damage: 0,
  fitted_headers: [],
  canaries: { from: 'off', checks: 0, answers: 0, passed: 0, skipped: 0 },
  files: ['verdicts.jsonl', 'manifest.json'],
  rows: {},
};

const summaryText = (summary: Summary): string => summaryLines(summary).join('\n');

describe('the summary for people', () => {
  it('says first what was judged, then what was not and what to do about it', () => {
    expect(summaryText(SUMMARY)).toBe(
      [
        'Judged 12,340 of 12,345 items; 5 not judged',
        '          3  MALFORMED_ROW: the row breaks its format; correct it at the line in errors.jsonl',
        '          2  TIMEOUT: the guard did not answer, or a file was not decoded, in time; try these again with retry',
        'Left out: files of earlier runs (9); listed in skipped.jsonl',
        'Decisions: 30 block, 10 review, 12,300 allow',
        'Policy: what the guard flags is blocked',
        'Flagged by the guard itself: 38',
        'Flagged categories:  block  review',
        '  Hate                  30       1',
        '  Violent Crimes         2       2',
        '  no category            0       7',
        '  42 in these rows, 40 items: an item may be in several rows',
        'Judged by grpc://gpu-1:8001, sha256:aa (12,340 verdicts)',
        'Canaries: off; no guard had to prove that it judges',
        'Time: 2 min 5 s, 98 items/s',
        `Chain head: ${'c'.repeat(64)}`,
        'Files: verdicts.jsonl, manifest.json',
      ].join('\n'),
    );
  });

  it('says what the policy was, what its gates came to, and what has no category', () => {
    const policy = {
      thresholds: { default: { review: 0.5, block: 0.8 }, hate: { review: 0.4 } },
      allowFlagged: true,
      allowPartial: false,
    };
    const gate = {
      gate: 'hate',
      limit: 0.001,
      value: 33 / 12_340,
      part: 33,
      unknown: 2,
      whole: 12_340,
      tripped: true,
    };
    const text = summaryText({ ...SUMMARY, policy, gates: [gate], partial: 2 });
    expect(text).toContain(
      '\nPolicy: default review from 0.5, block from 0.8; hate review from 0.4; allowFlagged\n',
    );
    expect(text).toContain('\n  no category            0       7\n');
    expect(text).toContain('\nJudged only in part: 2 items; coverage in the record says how far\n');
    expect(text).toContain(
      '\nGate category hate tripped: 0.00267 is above 0.001 (33 of 12,340 verdicts; 2 flagged without a score for the category)\n',
    );
  });

  it('counts all categories in few rows, and allowed ones where the policy allows what is flagged', () => {
    const names = Array.from({ length: 30 }, (_, at) => `name-${String(at).padStart(2, '0')}`);
    const lines = summaryLines({
      ...SUMMARY,
      by_category: Object.fromEntries(names.map((name, at) => [name, 1000 - at])),
      decisions_by_category: Object.fromEntries(
        names.map((name, at) => [name, { allow: 1, review: 2, block: 997 - at }]),
      ),
    });
    const from = lines.findIndex((line) => line.startsWith('Flagged categories:'));
    const table = lines.slice(from, from + 8).map((line) => line.trim().split(/ {2,}/));
    expect(table[0]).toEqual(['Flagged categories:', 'block', 'review', 'allow']);
    expect(table[1]).toEqual(['name-00', '997', '2', '1']);
    expect(table[5]).toEqual(['26 more categories (summary.json)', '25,493', '52', '26']);
    expect(table[6]).toEqual(['no category', '0', '7', '0']);
    const all = table.slice(1, 7).flatMap(([, ...counts]) => counts.slice(0, 2));
    const sum = all.reduce((total, count) => total + Number(count.replaceAll(',', '')), 0);
    expect(table[7]![0]).toBe(
      `${sum.toLocaleString('en-US')} in these rows, 40 items: an item may be in several rows`,
    );
  });

  it('aligns names of any script, and bounds them', () => {
    const decisions = { allow: 0, review: 0, block: 20 };
    const by_category = { ['\u6f22'.repeat(40)]: 20, hate: 20 };
    const decisions_by_category = { ['\u6f22'.repeat(40)]: decisions, hate: decisions };
    const lines = summaryLines({ ...SUMMARY, by_category, decisions_by_category, without_category: 0 });
    const from = lines.findIndex((line) => line.startsWith('Flagged categories:'));
    expect(lines.slice(from, from + 3).map(columnsIn)).toEqual([56, 56, 56]);
    expect(lines[from + 3]).toMatch(/^Judged by/);
  });

  it('says how many turns have no verdict of their own', () => {
    const text = summaryText({ ...SUMMARY, judged_as_whole: { conversations: 3, earlier_turns: 12 } });
    expect(text).toContain(
      '\n3 conversations judged as a whole; their 12 earlier turns: --audit every-turn\n',
    );
    expect(summaryText(SUMMARY)).not.toContain('as a whole');
  });

  it('has advice for every code', () => {
    for (const code of ITEM_CODES) {
      expect(summaryText({ ...SUMMARY, by_error_code: { [code]: 1 } })).toMatch(new RegExp(`${code}: \\w`));
    }
  });

  it('counts files of unsupported types by extension, the most frequent first, with what would help', () => {
    const text = summaryText({
      ...SUMMARY,
      by_error_code: { UNSUPPORTED_TYPE: 9 },
      unsupported_files: { heic: 2, other: 1, pdf: 5, xyz: 1 },
    });
    expect(text).toContain(
      [
        'Files of unsupported types:',
        '          5  .pdf: convert it to text, and its pages to images',
        '          2  .heic: convert it to JPEG',
        '          1  others',
        '          1  .xyz',
      ].join('\n'),
    );
    expect(summaryText(SUMMARY)).not.toContain('unsupported');
  });

  it('says how early a stream raised what it flagged', () => {
    const flag = { generations: 9, median: 0.31, p90: 0.7525 };
    const caution = { generations: 0, median: null, p90: null };
    const text = summaryText({ ...SUMMARY, streams: { generations: 1200, flag, caution } });
    expect(text).toContain(
      [
        'Flagged while streaming: 9 of 1,200 generations, half of them within the first 31% of their text, nine in ten within 75.3%',
        'Caution while streaming: 0 of 1,200 generations',
      ].join('\n'),
    );
    expect(summaryText(SUMMARY)).not.toContain('streaming');
  });

  it('says what to do with items that cannot be replayed', () => {
    const text = summaryText({ ...SUMMARY, by_error_code: { UNSUPPORTED_TYPE: 3 }, without_generation: 1 });
    expect(text).toContain(
      '1 of the items above has no prompt with a response to replay: judge them in a run without --as-stream',
    );
  });

  it('says what to install where ffmpeg was missing', () => {
    const text = summaryText({ ...SUMMARY, by_error_code: { INTERNAL: 3 }, without_ffmpeg: 2 });
    expect(text).toContain(
      '\nffmpeg is missing: 2 of the items above are audio; install it (Debian and Ubuntu: ',
    );
    expect(summaryText({ ...SUMMARY, without_ffmpeg: 1 })).toContain(
      '\nffmpeg is missing: 1 of the items above is audio;',
    );
    expect(summaryText(SUMMARY)).not.toContain('ffmpeg');
  });

  it('says how to have tables judged whose text was not recognised', () => {
    const text = summaryText({ ...SUMMARY, by_error_code: { UNSUPPORTED_TYPE: 3 }, without_text_column: 1 });
    expect(text).toContain(
      '\n1 of the items above has no column that is recognised as text: name it with --text-column',
    );
    expect(text).not.toContain('unsupported types');
  });

  it('tells files to be converted from columns to be named', () => {
    const by_error_code = { UNSUPPORTED_TYPE: 3 };
    expect(summaryText({ ...SUMMARY, by_error_code, by_error_reason: { file_type: 3 } })).toContain(
      '3  UNSUPPORTED_TYPE: convert the file to a supported type\n',
    );
    expect(
      summaryText({ ...SUMMARY, by_error_code, by_error_reason: { file_type: 2, no_text_column: 1 } }),
    ).toContain('3  UNSUPPORTED_TYPE: 2: convert the file to a supported type; 1: name the column');
  });

  it('says that a demonstration guard proves nothing', () => {
    const embedded = {
      endpoint: 'embedded:',
      kind: 'embedded',
      fingerprint: 'sha256:bb',
      verdicts: 1,
    } as const;
    expect(summaryText({ ...SUMMARY, guards: [embedded] })).toContain('demonstration guard');
    expect(summaryText(SUMMARY)).not.toContain('demonstration guard');
  });

  it('says of verdicts over REST why they name no model, and that it may be another one', () => {
    const rest = { endpoint: 'https://guard.example', kind: 'rest', fingerprint: null, verdicts: 1 } as const;
    const alone = summaryText({ ...SUMMARY, guards: [rest] });
    expect(alone).toContain(
      'Judged by https://guard.example, no fingerprint (1 verdict)\nOver REST a guard does not',
    );
    expect(alone).not.toContain('ATTENTION');
    const mixed = summaryText({ ...SUMMARY, guards: [...SUMMARY.guards, rest] }).split('\n');
    expect(mixed[1]).toMatch(/^ATTENTION: some verdicts do not name the model that judged/);
    expect(mixed.join()).not.toContain('different models');
  });

  it('bounds what a record or a guard can fill it with, and quotes what is no plain name', () => {
    const flood = Array.from({ length: 1000 }, (_, at) => at);
    const guards = flood.map((at) => ({ ...SUMMARY.guards[0]!, fingerprint: `sha256:${at}` }));
    const lines = summaryLines({
      ...SUMMARY,
      guards,
      skipped: Object.fromEntries(flood.map((at) => [`${'x'.repeat(1000)}${at}`, 1])),
      by_category: { 'Judged 999 of 999 items': 1 },
      decisions_by_category: { 'Judged 999 of 999 items': { block: 1, review: 0, allow: 0 } },
      empty_sources: { count: 1, paths: ['a\u001b b'] },
    });
    expect(lines.length).toBeLessThan(50);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(6000);
    expect(lines).toContain('and 992 more in summary.json');
    expect(lines).toContain('  "Judged 999 of 999 items"      1       0');
    expect(lines).toContain('Files without items: "a\\x1b b"');
  });

  it('makes several models, and an incomplete run, headlines', () => {
    const guards = [SUMMARY.guards[0]!, { ...SUMMARY.guards[0]!, fingerprint: 'sha256:bb' }];
    const lines = summaryText({ ...SUMMARY, status: 'incomplete', verdicts: 100, guards }).split('\n');
    expect(lines[1]).toMatch(/^ATTENTION: 2 different models/);
    expect(lines[2]).toMatch(/^INCOMPLETE/);
    expect(lines).toContainEqual('     12,240  no outcome yet: resume the run');
  });
});
