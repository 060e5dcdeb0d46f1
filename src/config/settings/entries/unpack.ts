import { wholeNumber } from '../kinds.ts';
import { setting } from '../setting.ts';

export const UNPACK_DEPTH = setting({
  flag: '--unpack-depth',
  key: 'unpackDepth',
  help: 'how deep to unpack archives inside archives; 1: not those inside another',
  kind: wholeNumber('count', 1, 10),
  default: '3',
  example: '5',
});

export const UNPACK_PARTS = setting({
  flag: '--unpack-parts',
  key: 'unpackParts',
  help: 'maximum number of files to judge in one archive, at all depths together',
  kind: wholeNumber('count', 1, 1_000_000),
  default: '10000',
  example: '100000',
});

export const UNPACK_SIZE = setting({
  flag: '--unpack-size',
  key: 'unpackSize',
  help: 'maximum size of the files in one archive together, unpacked, in MiB',
  kind: wholeNumber('mib', 1, 64 * 1024),
  default: '1024',
  example: '4096',
});

export const UNPACK_RATIO = setting({
  flag: '--unpack-ratio',
  key: 'unpackRatio',
  help: 'how many times its own size an archive may expand to, beyond 16 MiB',
  kind: wholeNumber('times', 1, 100_000),
  default: '200',
  example: '1000',
});
