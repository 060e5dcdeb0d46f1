import { hash } from 'node:crypto';
import { makeDeclaration } from '../../domain/fingerprint.ts';
import type { Reading } from '../protocol/connection.ts';

/**
 * Usual names of models and versions. Anything else is declared by its hash, because declarations are recorded and
 * shown.
 */
const PLAIN = /^[\w.:/@+-]{1,200}$/;

/**
 * The version reading for a server that cannot prove which model it runs: its declarations. `values` has what was
 * requested from the guard, and what it declared about itself; empty strings are omitted. `answeredBy` is the model
 * named in replies. Every reply names it, so an answer from another model is noticed.
 */
export function declaredReading(values: Readonly<Record<string, string>>, answeredBy: string): Reading {
  const entries = Object.entries({ ...values, 'answered-by': answeredBy }).flatMap(([name, value]) =>
    value === '' ? [] : [[name, PLAIN.test(value) ? value : `sha256:${hash('sha256', value)}`] as const],
  );
  const fingerprint = makeDeclaration(entries);
  if (fingerprint === null) throw new Error('a declaration is not plain');
  return { fingerprint, modelVersion: answeredBy };
}
