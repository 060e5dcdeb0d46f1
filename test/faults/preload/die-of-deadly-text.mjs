/**
 * Preloaded into workers: the process dies as soon as it sends a guard a text that holds the mark, as if native code
 * had crashed over it. gRPC writes each message in one piece, so the mark is never cut in two.
 */
import http2 from 'node:http2';

const MARK = process.env.FAULTS_DEADLY_MARK;
const connect = http2.connect;

http2.connect = (...connectArguments) => {
  const session = connect(...connectArguments);
  const request = session.request;
  session.request = function (...requestArguments) {
    const stream = request.apply(this, requestArguments);
    const write = stream.write;
    stream.write = function (chunk, ...rest) {
      if (Buffer.isBuffer(chunk) && chunk.includes(MARK)) process.kill(process.pid, 'SIGKILL');
      return write.call(this, chunk, ...rest);
    };
    return stream;
  };
  return session;
};
