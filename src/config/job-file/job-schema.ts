import { z } from 'zod';
import { keyShape } from '../settings/describe.ts';
import { JOB_SETTINGS } from '../settings/job-settings.ts';
import type { Setting } from '../settings/setting.ts';

/** A group of keys: a mapping, or a list of mappings (`[]`). */
const GROUPS: Readonly<Record<string, string>> = {
  'sources[]': 'What to moderate, in this order.',
  output: 'Where the record goes.',
  failIf: 'Gates for pipelines, as shares from 0 to 1.',
  schedule: 'When a scheduler starts the job.',
};

/** Shape of a job file. What values mean beyond their shape is checked when the configuration is resolved. */
export const JOB_SCHEMA = z.strictObject(shapeOf(JOB_SETTINGS)).meta({ title: 'guardsweep job file' });

function shapeOf(settings: readonly Setting[]): Record<string, z.ZodType> {
  const shape: Record<string, z.ZodType> = {};
  for (const setting of settings) {
    const [group, key] = setting.key!.split('.') as [string, string?];
    if (key === undefined) shape[group] = keyShape(setting);
    else shape[group.replace('[]', '')] ??= groupOf(group);
  }
  return shape;
}

function groupOf(group: string): z.ZodType {
  const members = JOB_SETTINGS.filter(({ key }) => key!.startsWith(`${group}.`));
  const mapping = z.strictObject(
    Object.fromEntries(members.map((member) => [member.key!.slice(group.length + 1), keyShape(member)])),
  );
  const shape = group.endsWith('[]') ? z.array(mapping).min(1) : mapping;
  const isRequired = members.some(({ absent }) => absent.is === 'required');
  return (isRequired ? shape : shape.optional()).meta({ description: GROUPS[group]! });
}
