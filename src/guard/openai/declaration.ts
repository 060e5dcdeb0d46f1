import { hash } from 'node:crypto';
import { makeDeclaration } from '../../domain/fingerprint.ts';
import type { Reading } from '../protocol/connection.ts';

/** Usual names of models and versions. Anything else is declared by its hash, because declarations are recorded and shown. */
const PLAIN = /^[\w.:/@+-]{1,200}$/;

/**
 * A reading of a server that proves nothing about the model it runs: what it declares. `values`: what the guard was asked
 * for, and what it said of itself; empty strings are left out. `answeredBy`: the model as replies name it. Every reply does,
 * so an answer from another model is noticed.
 */
export function declaredReading(values: Readonly<Record<string, string>>, answeredBy: string): Reading {
  const entries = Object.entries({ ...values, 'answered-by': answeredBy }).flatMap(([name, value]) =>
    value === '' ? [] : [[name, PLAIN.test(value) ? value : `sha256:${hash('sha256', value)}`] as const],
  );
  const fingerprint = makeDeclaration(entries);
  if (fingerprint === null) throw new Error('a declaration is not plain');
  return { fingerprint, modelVersion: answeredBy };
}
