import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { STATUS } from '../../src/gateway/api/errors.ts';
import { closeAfterEach, connect, guard } from '../helpers/guards/guard-pool.ts';
import { send, sendText, serve } from './serve.ts';

closeAfterEach();

interface Document {
  readonly openapi: string;
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

it('the description has every route, every error code, and schemas that replies follow (C-104, C-404)', async () => {
  const { origin } = await serve(await connect([await guard()]));
  const document = (await send(`${origin}/openapi.json`)).body as Document;
  expect(document).toMatchObject({ openapi: '3.1.1', security: [{}, { bearer: [] }] });
  for (const [path, operations] of Object.entries(document.paths)) {
    const [method] = Object.keys(operations);
    expect((await fetch(`${origin}${path}`, { method: 'OPTIONS' })).headers.get('allow')).toContain(
      method!.toUpperCase(),
    );
  }
  for (const [code, status] of Object.entries(STATUS)) {
    expect(JSON.stringify(document)).toContain(`${code} ${status}`);
  }
  const ajv = new Ajv2020({ strict: false });
  for (const [text, name] of [
    ['hello', 'Verdict'],
    [' ', 'Error'],
  ] as const) {
    const { body } = await sendText(origin, text);
    expect(ajv.validate(document.components.schemas[name]!, body), ajv.errorsText()).toBe(true);
  }
});

it('a server that needs a token says so', async () => {
  const { origin } = await serve(await connect([await guard()]), { token: 'secret' });
  const headers = { authorization: 'Bearer secret' };
  const document = (await send(`${origin}/openapi.json`, { headers })).body as Document;
  expect(document.security).toEqual([{ bearer: [] }]);
});
