import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Item } from '../../src/domain/item.ts';
import { ChatReader } from '../../src/formats/chat-reader.ts';
import { isFields, type SourceRecord } from '../../src/formats/record.ts';
import { asked, corpus, readItems, testFolder } from './read-items.ts';

/** An item in a line: its place, and its text or its code. */
const shown = (item: Item): string =>
  `${[item.source.row, ...(item.part === null ? [] : [item.part])].join(' ')}: ${asked(item)}`;

describe('exports of chat applications', () => {
  const folder = testFolder();

  async function items(name: string, content: unknown): Promise<string[]> {
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 1);
    return (await readItems([corpus(folder.write(name, text))])).map(shown);
  }

  test.each([
    ['Android', ['31/12/2023, 21:15 - Ann: Hi', '31/12/2023, 21:16 - Bob: Ho']],
    ['Android in the USA', ['12/31/23, 9:15\u202fPM - Ann: Hi', '12/31/23, 9:16\u202fPM - Bob: Ho']],
    ['Android in Spain', ['31/12/23 9:15 p. m. - Ann: Hi', '31/12/23 9:16 p. m. - Bob: Ho']],
    ['iOS', ['[31/12/2023, 21:15:07] Ann: Hi', '\u200e[31/12/2023, 21:15:08] Bob: Ho']],
    ['iOS in Canada', ['[2023-12-31, 9:15:33 PM] Ann: Hi', '[2023-12-31, 9:15:34 PM] Bob: Ho']],
  ])('a chat of WhatsApp on %s is one item a message', async (_name, lines) => {
    expect(await items('_chat.txt', `${lines.join('\r\n')}\r\n`)).toEqual(['1: Hi', '2: Ho']);
    expect(await items('WhatsApp Chat with Bob', `\ufeff${lines.join('\n')}`)).toEqual(['1: Hi', '2: Ho']);
  });

  test('a message of WhatsApp goes on to the next one, and notices are messages too', async () => {
    const chat = [
      '12/31/23, 21:00 - Messages and calls are end-to-end encrypted.',
      '12/31/23, 21:15 - Ann: Two things:',
      '',
      'eggs: six',
      '12/31/23, 21:16 - Bob: ',
      '12/31/23, 21:17 - +49 170 1234: at 12:30 - not later',
    ].join('\n');
    expect(await items('chat.txt', chat)).toEqual([
      '1: Messages and calls are end-to-end encrypted.',
      '2: Two things:\n\neggs: six',
      '4: at 12:30 - not later',
    ]);
  });

  test.each([
    ['a note that begins with a date', '12/31/23, 21:15 - I was there: alone.\nThen I went home.'],
    ['minutes', 'On 12/31/23, 21:15 - Ann: Hi\n12/31/23, 21:16 - Bob: Ho'],
  ])('%s is one text', async (_name, note) => {
    expect(await items('note.txt', note)).toEqual([`: ${note}`]);
  });

  test('a chat of Discord', async () => {
    const author = { id: '9', name: 'ann', nickname: 'Ann of the Old Mill', isBot: false, roles: [] };
    const message = (id: number, content: string, more: object = {}) => ({
      id: String(id),
      type: 'Default',
      timestamp: '2024-01-01T00:00:00.000+00:00',
      content,
      author,
      attachments: [],
      embeds: [],
      reactions: [],
      ...more,
    });
    const attachments = [{ id: '3', url: 'https://example.org/a.png', fileName: 'a.png' }];
    const embeds = [{ title: 'A page', description: 'of many words', url: '' }];
    const file = {
      guild: { id: '1', name: 'G', iconUrl: 'https://example.org/g.png' },
      channel: { id: '2', type: 'GuildTextChat', name: 'general', topic: 'what we had for lunch' },
      messages: [message(11, 'Hi'), message(12, '', { attachments }), message(13, 'See this', { embeds })],
    };
    expect(await items('general.json', file)).toEqual([
      '1: Hi',
      '3: See this',
      '3 embeds[1]: A page',
      '3 embeds[2]: of many words',
      '4 channel[1]: what we had for lunch',
    ]);
  });

  test('all chats of Telegram, whatever each begins with', async () => {
    const link = ['see ', { type: 'link', text: 'example.org' }, ' now'];
    const entities = [{ type: 'plain', text: 'see ' }, link[1], { type: 'plain', text: ' now' }];
    const message = (id: number, more: object) => ({ id, type: 'message', date: '2024-01-01', ...more });
    const messages = [
      message(1, { from: 'Ann', from_id: 'user1', text: 'Hi' }),
      message(2, { from: 'Bob', photo: 'p/1.jpg', text: '' }),
      message(3, { type: 'service', actor: 'Bob', action: 'phone_call', text: '' }),
      message(4, { from: 'Bob', text: link, text_entities: entities }),
    ];
    const chat = { name: 'Team', type: 'private_group', id: 77, messages };
    const turned = { ...chat, id: 78, messages: messages.toReversed() };
    const all = { about: 'x', chats: { about: 'y', list: [chat, turned] } };
    expect(await items('result.json', all)).toEqual([
      '1 message[1]: Hi',
      '1 message[4]: see example.org now',
      '2 message[1]: see example.org now',
      '2 message[4]: Hi',
    ]);
  });

  test('a day of a channel of Slack, with the text in blocks as well', async () => {
    const section = (text: string) => ({ type: 'rich_text_section', elements: [{ type: 'text', text }] });
    const message = (user: string, text: string) => ({
      type: 'message',
      user,
      text,
      ts: '1700000000.000100',
      blocks: [{ type: 'rich_text', elements: [section(text)] }],
      user_profile: { real_name: 'Ann Bold', display_name: 'ann', avatar_hash: 'g12' },
    });
    const day = [message('U1', 'Hi all of you'), message('U2', ''), message('U2', 'Ho')];
    expect(await items('2024-01-01.json', day)).toEqual(['1: Hi all of you', '3: Ho']);
  });
});

test('the messages of a chat do not depend on how its file is split, and no word is lost', () => {
  const ios = '[31/12/2023, 21:15:07] Ann: Hi';
  const known = fc.constantFrom(ios, '12/31/23, 21:15 - Bob: Ho', '12/31/23, 21:15 - Left', '');
  const line = fc.oneof(known, fc.stringMatching(/^[a-zä:[\] ]{0,20}$/));
  const lines = fc.array(line, { maxLength: 12 });
  fc.assert(
    fc.property(lines, fc.nat(40), fc.constantFrom(24, 1000), (lines, size, limit) => {
      const bytes = Buffer.from(lines.join('\n'));
      const read = (step: number): SourceRecord[] => {
        const reader = new ChatReader(limit);
        const records: SourceRecord[] = [];
        for (let at = 0; at < bytes.length; at += step)
          records.push(...[...reader.push(bytes.subarray(at, at + step))].flat());
        return records.concat(...reader.end());
      };
      const whole = read(bytes.length + 1);
      const inRows = (records: SourceRecord[]): unknown[] =>
        records.map(({ row, line: first, content, error }) => [
          ...[row, first, error?.code],
          ...(isFields(content) ? [content.get('sender'), content.get('text')] : []),
        ]);
      expect(inRows(read(size + 1))).toEqual(inRows(whole));
      if (whole.some(({ error }) => error !== null)) return;
      const said = whole.map(({ content }) => (isFields(content) ? content.get('text') : '')).join('\n');
      for (const word of lines.join(' ').match(/[a-zä]+/g) ?? []) expect(`${said} Ann Bob`).toContain(word);
    }),
    { numRuns: 125 },
  );
});
