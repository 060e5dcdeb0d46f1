import { describe, expect, it } from 'vitest';
import { normalise } from '../../../src/guard-server/lite/normalise.ts';
import { expectLinear } from '../../helpers/linear.ts';

describe('the form that features are taken from', () => {
  it.each([
    ['hеllo', 'hello'],
    ['сообщение', 'сообщение'],
    ['k1ll y0u', 'kill you'],
    ['mike@example.com b@d', 'mike@example.com bad'],
    ['k1ll.me k1ll', 'k1ll.me kill'],
    ['k i l l', 'kill'],
    ['noooo', 'noo'],
    ['kíll ỵọụ', 'kill you'],
    ['Tôi đang học tiếng Việt ở nhà', 'tôi đang học tiếng việt ở nhà'],
    ['t0 b0mb th3m', 'to bomb them'],
    ['Straße, Łódź, œuvre', 'strasse, lodz, oeuvre'],
  ])('%j becomes %j', (text, normal) => expect(normalise(text)).toBe(normal));

  it.each(['с', 'a1', 'a1-', 'a.', 'a ', '1', 'aс', '\u200b', 'a1@', 'a\u0336', 'ệ ', 'ệa', 'b1b '])(
    'takes linear time over %j',
    (part) => {
      expectLinear((length) => part.repeat(length / part.length), normalise);
    },
  );
});
