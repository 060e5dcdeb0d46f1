import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { JOB_SCHEMA } from '../../src/config/job-file/job-schema.ts';
import { POLICY_SCHEMA } from '../../src/config/job-file/policy-file.ts';
import { resolveRunConfig } from '../../src/config/resolve.ts';
import { keyAbsentText } from '../../src/config/settings/describe.ts';
import { JOB_SETTINGS } from '../../src/config/settings/job-settings.ts';
import { expectFile, markdownList, projectFile, withList } from './settings/markdown-list.ts';

/** Editors' YAML support is surest with draft 7. */
const asJsonSchema = (schema: typeof JOB_SCHEMA | typeof POLICY_SCHEMA): string =>
  JSON.stringify(schema.toJSONSchema({ target: 'draft-07', io: 'input' }));

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
  const page = 'docs/job-files.md';
  await expectFile(page, withList(await projectFile(page), 'keys', keysList()));
});

/** The examples for guards that people have already. */
const OF_GUARDS = 'granite-guardian llama-guard openai qwen3guard shieldgemma written-policy'.split(' ');

it('the schemas for editors are those that files are checked against', async () => {
  await expectFile('jobs/job.schema.json', asJsonSchema(JOB_SCHEMA));
  await expectFile('jobs/policy.schema.json', asJsonSchema(POLICY_SCHEMA));
});

it.each(OF_GUARDS)('the example jobs for the guard %s resolves', async (name) => {
  const paths = [`jobs/guards/${name}.yaml`];
  const cwd = resolve(import.meta.dirname, '../..');
  const { config } = await resolveRunConfig({ paths, flags: {}, env: {}, cwd });
  expect(config).toMatchObject({ name, guards: [expect.stringMatching(/^openai\+/)] });
  expect(config.guardPolicy !== undefined).toBe(name === 'written-policy');
});
