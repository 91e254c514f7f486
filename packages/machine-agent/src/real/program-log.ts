import { createWriteStream, renameSync, statSync, type WriteStream } from "node:fs";
import { Writable } from "node:stream";

/**
 * One file holds at most so many bytes, and a little more: the chunk that fills it is not cut. The file before it is
 * kept, too.
 */
const FULL = 16 * 1024 * 1024;

/**
 * A log that only root reads. When the file is full it becomes `FILE.1`, in place of the one before, and a new one
 * begins.
 */
export function openProgramLog(file: string, full = FULL): Writable {
  let size = 0;
  let output: WriteStream | undefined;
  const open = (): WriteStream => {
    size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    return createWriteStream(file, { flags: "a", mode: 0o600 });
  };
  const renew = (done: () => void): void => {
    if (output === undefined || size < full) return done();
    output.end(() => {
      renameSync(file, `${file}.1`);
      output = undefined;
      done();
    });
  };
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      renew(() => {
        output ??= open();
        size += chunk.length;
        output.write(chunk, done);
      });
    },
    final(done) {
      if (output === undefined) done();
      else output.end(done);
    },
  });
}
