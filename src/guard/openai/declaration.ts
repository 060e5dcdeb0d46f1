import { hash } from 'node:crypto';
import { makeDeclaration } from '../../domain/fingerprint.ts';
import type { Reading } from '../protocol/connection.ts';

/** What servers call a model or a version. Anything else is declared by its hash: it is recorded and shown. */
const PLAIN = /^[\w.:/@+-]{1,200}$/;

export interface Declared {
  /** What the guard was asked for, and what it said of itself, by name; empty texts are left out. */
  readonly values: Readonly<Record<string, string>>;
  /** The model that answers, as replies name it. */
  readonly answeredBy: string;
}

/**
 * A reading of a server that proves nothing about the model it runs: what it declares. Every reply names its model, so an
 * answer of another one is found out by itself.
 */
export function declaredReading({ values, answeredBy }: Declared): Reading {
  const entries = Object.entries({ ...values, 'answered-by': answeredBy }).flatMap(([name, value]) =>
    value === '' ? [] : [[name, PLAIN.test(value) ? value : `sha256:${hash('sha256', value)}`] as const],
  );
  const fingerprint = makeDeclaration(entries);
  if (fingerprint === null) throw new Error('a declaration that is not plain');
  return { fingerprint, modelVersion: answeredBy };
}
