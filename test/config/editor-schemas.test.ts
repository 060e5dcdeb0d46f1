import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { expect, it } from 'vitest';
import { JOB_SCHEMA } from '../../src/config/job-file/job-schema.ts';
import { POLICY_SCHEMA } from '../../src/config/job-file/policy-file.ts';
import { resolveRunConfig } from '../../src/config/resolve.ts';
import { keyAbsentText } from '../../src/config/settings/describe.ts';
import { JOB_SETTINGS } from '../../src/config/settings/job-settings.ts';
import { markdownList, withList } from './settings/markdown-list.ts';

const root = resolve(import.meta.dirname, '../..');

const style = await resolveConfig(resolve(root, 'package.json'));

/** Editors' YAML support is surest with draft 7. */
async function asJsonSchema(schema: typeof JOB_SCHEMA | typeof POLICY_SCHEMA): Promise<string> {
  const json = JSON.stringify(schema.toJSONSchema({ target: 'draft-07', io: 'input' }));
  return format(json, { ...style, parser: 'json' });
}

const code = (text: string | null): string => (text === null ? '' : `\`${text}\``);

function keysList(): string {
  return markdownList(
    JOB_SETTINGS.map((setting) => {
      const { key, flag, help, keyNote } = setting;
      const meaning = keyNote === null ? help : `${help}; ${keyNote}`;
      const absent = setting.absent.is === 'required' ? 'Required.' : `Default: ${keyAbsentText(setting)}.`;
      const name = flag === null ? code(key) : `${code(key)} (${code(flag)})`;
      return { name, text: `${meaning}. ${absent}` };
    }),
  );
}

// `npx vitest run test/config/editor-schemas.test.ts -u` writes the files again.
it('the list of keys in the documentation is the one of the settings', async () => {
  const text = await readFile(resolve(root, 'docs/job-files.md'), 'utf8');
  const derived = await format(withList(text, 'keys', keysList()), { ...style, parser: 'markdown' });
  await expect(derived).toMatchFileSnapshot('../../docs/job-files.md');
});

/** The examples for guards that people have already. */
const OF_GUARDS = 'granite-guardian llama-guard openai qwen3guard shieldgemma written-policy'.split(' ');

it('the schemas for editors are those that files are checked against', async () => {
  await expect(await asJsonSchema(JOB_SCHEMA)).toMatchFileSnapshot('../../jobs/job.schema.json');
  await expect(await asJsonSchema(POLICY_SCHEMA)).toMatchFileSnapshot('../../jobs/policy.schema.json');
});

it.each(OF_GUARDS)('the example jobs for the guard %s resolves', async (name) => {
  const paths = [`jobs/guards/${name}.yaml`];
  const { config } = await resolveRunConfig({ paths, flags: {}, env: {}, cwd: root });
  expect(config).toMatchObject({ name, guards: [expect.stringMatching(/^openai\+/)] });
  expect(config.guardPolicy !== undefined).toBe(name === 'written-policy');
});
