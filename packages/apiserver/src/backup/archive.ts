import { createHash, type Hash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { CausewayError, InputError } from "@causeway/foundation";
import { isRecord } from "../json/json.ts";

/*
 * One file: a line of JSON that names what follows with its size and SHA-256, a line with the SHA-256 of the first, and
 * the contents.
 */
const FORMAT = "causeway-apiserver-backup";
/** Raised with every change that an older Causeway could not read. */
const VERSION = 2;
const CHUNK = 1 << 20;
const LONGEST_HEADER = 64 << 20;

/** The first line of an archive. */
export interface Header {
  readonly created: string;
  readonly revision: number;
  readonly entries: readonly Entry[];
}

/** One file of an archive. */
export interface Entry {
  /** Path in the state folder. */
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

/** What goes into an archive: a text, or a file to copy. */
export type Source = { readonly name: string } & ({ readonly text: string } | { readonly path: string });

/** Writes an archive of mode 0600, as a whole or not at all. */
export async function writeArchive(
  file: string,
  about: { readonly created: string; readonly revision: number },
  sources: readonly Source[],
): Promise<Header> {
  const entries: Entry[] = [];
  for (const source of sources) entries.push(await entryOf(source));
  const header: Header = { ...about, entries };
  const line = JSON.stringify({ format: FORMAT, version: VERSION, ...header });
  const part = `${file}.part`;
  const to = openSync(part, "w", 0o600);
  try {
    writeSync(to, `${line}\n${hashOf(line)}\n`);
    for (const source of sources) await copy(source, (chunk) => writeAll(to, chunk));
    fsyncSync(to);
    closeSync(to);
    renameSync(part, file);
    return header;
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

async function entryOf(source: Source): Promise<Entry> {
  const hash = createHash("sha256");
  let size = 0;
  await copy(source, (chunk) => {
    size += chunk.length;
    hash.update(chunk);
  });
  return { name: source.name, size, sha256: hash.digest("hex") };
}

/** Hands a source over in pieces, and lets others work between them. */
async function copy(source: Source, take: (chunk: Buffer) => void): Promise<void> {
  if ("text" in source) return take(Buffer.from(source.text));
  const from = openSync(source.path, "r");
  try {
    const buffer = Buffer.alloc(CHUNK);
    for (;;) {
      const length = readSync(from, buffer);
      if (length === 0) return;
      take(buffer.subarray(0, length));
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    closeSync(from);
  }
}

/** An archive that was verified from end to end. */
export interface Archive extends Header {
  /** Copies an entry out, and checks it again on the way. */
  extract(entry: Entry, path: string): Promise<void>;
  close(): void;
}

/**
 * Opens an archive and checks all of it.
 * Throws APISERVER_BACKUP_UNREADABLE, APISERVER_BACKUP_TOO_NEW, APISERVER_BACKUP_DAMAGED.
 */
export async function openArchive(file: string): Promise<Archive> {
  const from = opened(file);
  try {
    const { header, start } = readHeader(from, file);
    const starts = new Map<Entry, number>();
    let position = start;
    for (const entry of header.entries) {
      starts.set(entry, position);
      position += entry.size;
    }
    if (statSync(file).size !== position) throw damaged(file, "it is not as long as it says");
    const check = async (entry: Entry, take: (chunk: Buffer) => void): Promise<void> => {
      const hash = await read(from, { start: starts.get(entry) ?? 0, size: entry.size }, take);
      if (hash.digest("hex") !== entry.sha256) throw damaged(file, `${entry.name} is not what was written`);
    };
    for (const entry of header.entries) await check(entry, () => {});
    return {
      ...header,
      extract: (entry, path) => extract(path, (take) => check(entry, take)),
      close: () => closeSync(from),
    };
  } catch (error) {
    closeSync(from);
    throw error;
  }
}

async function extract(path: string, work: (take: (chunk: Buffer) => void) => Promise<void>): Promise<void> {
  const to = openSync(path, "wx", 0o600);
  try {
    await work((chunk) => writeAll(to, chunk));
    fsyncSync(to);
  } finally {
    closeSync(to);
  }
}

function opened(file: string): number {
  try {
    return openSync(file, "r");
  } catch (cause) {
    throw new InputError("APISERVER_BACKUP_UNREADABLE", `${file} cannot be read`, {
      cause,
      hint: "Specify the path of a file that `causeway backup` wrote.",
    });
  }
}

function readHeader(from: number, file: string): { header: Header; start: number } {
  const line = readLine(from, 0, file);
  const header = parsed(line);
  if (header?.["format"] !== FORMAT) {
    throw new InputError("APISERVER_BACKUP_UNREADABLE", `${file} is no backup of an API server`, {
      hint: "Specify the path of a file that `causeway backup` wrote.",
    });
  }
  if (typeof header["version"] !== "number" || header["version"] > VERSION) {
    throw new InputError(
      "APISERVER_BACKUP_TOO_NEW",
      `${file} has format ${String(header["version"])}; this Causeway knows ${VERSION}`,
      {
        hint: "Restore it with the newer Causeway that wrote it.",
      },
    );
  }
  const start = Buffer.byteLength(line) + 1;
  const hash = readLine(from, start, file);
  if (hash !== hashOf(line) || !isHeader(header)) throw damaged(file, "its first line is not what was written");
  return { header, start: start + hash.length + 1 };
}

function readLine(from: number, start: number, file: string): string {
  const pieces: Buffer[] = [];
  for (let position = start; position - start < LONGEST_HEADER;) {
    const buffer = Buffer.alloc(64 << 10);
    const length = readSync(from, buffer, 0, buffer.length, position);
    const end = buffer.subarray(0, length).indexOf(10);
    pieces.push(buffer.subarray(0, end < 0 ? length : end));
    if (end >= 0) return Buffer.concat(pieces).toString();
    if (length === 0) break;
    position += length;
  }
  throw damaged(file, "it ends in its first lines");
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Names remain within the folder that they are restored to. */
const NAME = /^(?!.*(^|\/)\.\.?(\/|$))[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/;

function isHeader(value: unknown): value is Header {
  if (!isRecord(value) || typeof value["revision"] !== "number" || !Array.isArray(value["entries"])) return false;
  return value["entries"].every(
    (e: unknown) =>
      isRecord(e) &&
      typeof e["name"] === "string" &&
      NAME.test(e["name"]) &&
      Number.isSafeInteger(e["size"]) &&
      typeof e["sha256"] === "string",
  );
}

async function read(
  from: number,
  { start, size }: { start: number; size: number },
  take: (chunk: Buffer) => void,
): Promise<Hash> {
  const hash = createHash("sha256");
  const buffer = Buffer.alloc(Math.min(CHUNK, size));
  for (let done = 0; done < size;) {
    const length = readSync(from, buffer, 0, Math.min(buffer.length, size - done), start + done);
    if (length === 0) break;
    done += length;
    hash.update(buffer.subarray(0, length));
    take(buffer.subarray(0, length));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return hash;
}

function writeAll(to: number, chunk: Buffer): void {
  for (let done = 0; done < chunk.length;) done += writeSync(to, chunk, done);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function damaged(file: string, why: string): CausewayError {
  return new CausewayError("APISERVER_BACKUP_DAMAGED", `${file} is damaged: ${why}`, {
    hint: "Take another backup; nothing was restored from this one.",
  });
}
