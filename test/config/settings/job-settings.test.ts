import { describe, expect, it } from 'vitest';
import { JOB_SCHEMA } from '../../../src/config/job-file/job-schema.ts';
import { JOB_SETTINGS } from '../../../src/config/settings/job-settings.ts';
import { allSettings } from './all-settings.ts';

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** The paths of all keys, as settings name them, with what describes each. */
function keysOf({ properties = {}, items }: Schema, path = ''): [key: string, description: string][] {
  const below = items?.properties === undefined ? [] : keysOf(items, `${path}[]`);
  return Object.entries(properties).reduce((keys, [name, schema]) => {
    const key = path === '' ? name : `${path}.${name}`;
    // A mapping may be the value of one setting.
    const inner = JOB_SETTINGS.some((setting) => setting.key === key) ? [] : keysOf(schema, key);
    return [...keys, ...(inner.length > 0 ? inner : [[key, schema.description ?? ''] as [string, string]])];
  }, below);
}

describe('the settings of job files', () => {
  it('are all settings that have a key', async () => {
    const withKey = [...(await allSettings())].filter(([, { key }]) => key !== null);
    const missing = withKey.filter(([, setting]) => !JOB_SETTINGS.includes(setting)).map(([name]) => name);
    expect(missing).toEqual([]);
    expect(withKey).toHaveLength(JOB_SETTINGS.length);
  });

  it('are the keys of the schema, each with a description', () => {
    const keys = keysOf(JOB_SCHEMA.toJSONSchema({ io: 'input' }) as Schema);
    expect(keys.map(([key]) => key).sort()).toEqual(JOB_SETTINGS.map(({ key }) => key).sort());
    for (const [key, description] of keys)
      expect([key, description]).toEqual([key, expect.stringMatching(/\.$/)]);
  });
});
