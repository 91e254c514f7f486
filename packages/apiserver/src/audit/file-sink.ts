import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, write } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { CausewayError, messageOf, type Clock, type Log } from "@causeway/foundation";
import type { AuditLogOptions, AuditSink } from "../contract/audit.ts";

const MIB = 1024 * 1024;
const DAY = 86_400_000;
/** What may wait for a disk that does not answer. */
const LONGEST_BACKLOG = 64 * MIB;

/** Appends events to a file of mode 0600, put aside when it is full. Throws AUDIT_LOG_UNWRITABLE. */
export function fileSink(options: AuditLogOptions, { clock, log }: { clock: Clock; log: Log }): AuditSink {
  const { file, maxSize = 100 } = options;
  let descriptor = open(file);
  let size = statSync(file).size;
  let waiting: string[] = [];
  let backlog = 0;
  let dropped = 0;
  let writing: Promise<void> | undefined;

  const turnOver = (length: number): void => {
    if (size === 0 || size + length <= maxSize * MIB) return;
    closeSync(descriptor);
    renameSync(file, aside(file, clock.now()));
    descriptor = open(file);
    size = 0;
    forgetOld(options, clock.now());
  };

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const lines = waiting;
      waiting = [];
      backlog = 0;
      try {
        for (const chunk of chunked(lines, maxSize * MIB)) {
          turnOver(chunk.length);
          await append(descriptor, chunk);
          size += chunk.length;
        }
      } catch (error) {
        log.error("audit events were lost", { file, events: lines.length, reason: messageOf(error) });
      }
    }
    if (dropped > 0) log.error("audit events were lost", { file, events: dropped, reason: "the disk is too slow" });
    dropped = 0;
    writing = undefined;
  };

  return {
    write(event) {
      if (backlog > LONGEST_BACKLOG) {
        dropped += 1;
        return;
      }
      waiting.push(`${event}\n`);
      backlog += event.length;
      writing ??= new Promise((resolve) => setImmediate(() => resolve(flush())));
    },
    async close() {
      while (writing) await writing;
      closeSync(descriptor);
    },
  };
}

function open(file: string): number {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const descriptor = openSync(file, "a", 0o600);
    chmodSync(file, 0o600);
    return descriptor;
  } catch (cause) {
    throw new CausewayError("AUDIT_LOG_UNWRITABLE", `the audit log ${file} cannot be written: ${messageOf(cause)}`, {
      cause,
      hint: "Specify a file in a folder that this user may write to.",
    });
  }
}

/** Whole lines together, at most `limit` bytes where a line alone is not longer. */
function* chunked(lines: readonly string[], limit: number): Generator<Buffer> {
  let chunk: Buffer[] = [];
  let length = 0;
  for (const line of lines) {
    const bytes = Buffer.from(line);
    if (length > 0 && length + bytes.length > Math.min(limit, MIB)) {
      yield Buffer.concat(chunk);
      chunk = [];
      length = 0;
    }
    chunk.push(bytes);
    length += bytes.length;
  }
  if (length > 0) yield Buffer.concat(chunk);
}

async function append(descriptor: number, bytes: Buffer): Promise<void> {
  for (let from = 0; from < bytes.length;) {
    from += await new Promise<number>((resolve, reject) => {
      write(descriptor, bytes, from, bytes.length - from, null, (error, written) =>
        error ? reject(error) : resolve(written),
      );
    });
  }
}

/** "audit-2026-11-21T10-30-00.123.log" next to "audit.log"; a second one of the same instant gets a number. */
function aside(file: string, now: number): string {
  const extension = extname(file);
  const stem = file.slice(0, file.length - extension.length);
  const stamp = new Date(now).toISOString().replaceAll(":", "-").replace("Z", "");
  const taken = new Set(readdirSync(dirname(file)));
  for (let i = 0; ; i += 1) {
    const name = `${stem}-${stamp}${i === 0 ? "" : `-${i}`}${extension}`;
    if (!taken.has(basename(name))) return name;
  }
}

function forgetOld({ file, maxBackups = 10, maxAge = 0 }: AuditLogOptions, now: number): void {
  const folder = dirname(file);
  const extension = extname(file);
  const prefix = `${basename(file, extension)}-`;
  const old = readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name.endsWith(extension))
    .map((name) => ({ name, at: writtenAt(name.slice(prefix.length)) }))
    .filter(({ at }) => at !== undefined)
    .sort((a, b) => b.name.localeCompare(a.name));
  for (const [i, { name, at = now }] of old.entries()) {
    const tooMany = maxBackups > 0 && i >= maxBackups;
    if (tooMany || (maxAge > 0 && now - at > maxAge * DAY)) rmSync(join(folder, name), { force: true });
  }
}

/** The instant in the name of a file put aside. */
function writtenAt(suffix: string): number | undefined {
  const [, day, hours, minutes, seconds] = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})/.exec(suffix) ?? [];
  return day === undefined ? undefined : Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
}
