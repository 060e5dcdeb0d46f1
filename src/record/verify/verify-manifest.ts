import { Failure } from '../../domain/failure.ts';
import { RUN_FILES, commitsName } from '../../files/run-files.ts';
import { filesHash, renderManifest, type Manifest, type ManifestOrigin } from '../manifest/manifest.ts';
import { restoreFingerprint } from '../../domain/fingerprint.ts';
import type { Chain, Closing } from '../log/chain.ts';
import { doesNotFollow } from '../log/read-chain.ts';
import { FileComparison } from './file-comparison.ts';

/** Checks that the chain ends where the manifest says; returns its closing line. */
export function checkChain(chain: Chain, manifest: Manifest): Closing {
  if (chain.endsBefore !== null) throw doesNotFollow(chain.endsBefore);
  const { epoch, head } = chain.position;
  if (epoch !== manifest.epoch || head !== manifest.chain_head) {
    throw broken(`the chain does not end at the head that ${RUN_FILES.manifest} names`);
  }
  for (const { id, artifacts } of chain.fingerprints.values()) {
    if (restoreFingerprint(artifacts)?.id !== id) {
      throw broken(`fingerprint ${id} in the log is not that of its artifacts`);
    }
  }
  const closing = chain.closings.at(-1);
  if (closing?.position.head === head) return closing;
  throw broken(
    `log/${commitsName(epoch)} does not end in a closing line, so nothing in the chain says what ${RUN_FILES.manifest} held`,
  );
}

/** Checks a manifest against the closing line at the end of the chain. Failure('internal') names what differs. */
export function checkClosing(closing: Closing, manifest: Manifest): void {
  const { epoch, lines } = closing.position;
  const say = (what: string): Failure =>
    new Failure(
      'internal',
      `${what} in ${RUN_FILES.manifest} is not what log/${commitsName(epoch)} line ${lines} holds`,
    );
  if (manifest.pass !== closing.closes) throw say('pass');
  if (manifest.finished_at !== closing.at) throw say('finished_at');
  if (filesHash(manifest.files, epoch) !== closing.files) throw say('the list of files');
}

/**
 * Renders the manifest again from its inputs and compares it; its list of files was checked against the closing line.
 * Failure('internal') names the first line that differs.
 */
export async function checkManifest(
  runDir: string,
  manifest: Manifest,
  { closing, ...known }: Omit<ManifestOrigin, 'sources' | 'closing'> & { readonly closing: Closing },
): Promise<void> {
  const { at, position } = closing;
  const { epoch, head } = position;
  const origin = { ...known, sources: manifest.sources, closing: { at, epoch, head } };
  const file = await FileComparison.open(runDir, RUN_FILES.manifest);
  try {
    await file.write(renderManifest(origin, manifest.files));
    await file.complete();
  } finally {
    await file.close();
  }
}

function broken(what: string): Failure {
  return new Failure('internal', what);
}
