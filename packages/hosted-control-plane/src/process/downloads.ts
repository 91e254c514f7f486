import { createHash } from "node:crypto";
import { createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { chmod } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { CausewayError, isRecord, messageOf } from "@causeway/foundation";

/** In the folder of programs: where those that are not there yet are, and what they must be. */
export const DOWNLOADS = "downloads.json";

interface Download {
  /** Of the program itself, not of an archive. */
  readonly url: string;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** By version and program. */
type Downloads = Readonly<Record<string, Readonly<Record<string, Download>>>>;

/** Of one program. */
const LARGEST = 512 * 2 ** 20;
const TIMEOUT = 600_000;

/**
 * What `downloads.json` of the folder says; without it nothing can be downloaded.
 * @throws PROCESS_DOWNLOADS_INVALID
 */
export function readDownloads(folder: string): Downloads {
  const file = join(folder, DOWNLOADS);
  if (!existsSync(file)) return {};
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw invalid(file, messageOf(cause));
  }
  const problem = problemOf(content);
  if (problem !== undefined) throw invalid(file, problem);
  return content as Downloads;
}

function problemOf(content: unknown): string | undefined {
  if (!isRecord(content)) return "it is not an object of versions";
  for (const [version, all] of Object.entries(content)) {
    if (!/^v\d+\.\d+\.\d+[-+.\w]{0,64}$/.test(version))
      return `${version.slice(0, 40)} is not a version such as v1.34.4`;
    if (!isRecord(all)) return `${version} is not an object of programs`;
    for (const [program, download] of Object.entries(all)) {
      const where = `${program.slice(0, 40)} of ${version}`;
      if (!isRecord(download)) return `${where} has no url and sha256`;
      const { url, sha256 } = download;
      if (typeof url !== "string" || !URL.canParse(url) || !/^https?:/.test(url)) return `${where} has no http(s) url`;
      if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/i.test(sha256)) return `${where} has no sha256 in hexadecimal`;
    }
  }
  return undefined;
}

/**
 * Downloads programs of a version into the folder. Each takes its place only when its checksum is right: a crash, or a
 * wrong file, leaves nothing that could be run.
 * @throws PROCESS_DOWNLOAD_FAILED, PROCESS_CHECKSUM_DIFFERS
 */
export async function download(
  folder: string,
  { version, programs }: { readonly version: string; readonly programs: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const listed = readDownloads(folder)[version] ?? {};
  const dir = join(folder, version);
  mkdirSync(dir, { recursive: true });
  for (const name of programs) {
    const wanted = listed[name];
    if (wanted === undefined) continue;
    const half = join(dir, `.${name}.${process.pid}`);
    try {
      const sum = await fetchInto(half, wanted.url, signal);
      if (sum !== wanted.sha256.toLowerCase()) throw differs(name, version, { wanted, sum });
      renameSync(half, join(dir, name));
    } finally {
      rmSync(half, { force: true });
    }
  }
}

/** The checksum of what was written. */
async function fetchInto(file: string, url: string, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]) });
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    const hash = createHash("sha256");
    let size = 0;
    const measured = new Transform({
      transform(chunk: Buffer, _, done) {
        hash.update(chunk);
        size += chunk.length;
        done(size > LARGEST ? new Error(`it is larger than ${LARGEST} bytes`) : null, chunk);
      },
    });
    const written = createWriteStream(file, { mode: 0o755, flush: true });
    await pipeline(Readable.fromWeb(response.body as ReadableStream), measured, written);
    // The umask of the process took some of it away.
    await chmod(file, 0o755);
    return hash.digest("hex");
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new CausewayError("PROCESS_DOWNLOAD_FAILED", `${url} cannot be downloaded: ${messageOf(cause)}`, {
      hint: `Check the address in ${DOWNLOADS}, or put the program into the folder. It is retried.`,
      cause,
    });
  }
}

function differs(name: string, version: string, { wanted, sum }: { wanted: Download; sum: string }): CausewayError {
  return new CausewayError(
    "PROCESS_CHECKSUM_DIFFERS",
    `${name} of ${version} from ${wanted.url} has the SHA-256 ${sum}, and ${DOWNLOADS} has ${wanted.sha256}`,
    { hint: "The file was changed, or the list is wrong: compare it with the checksum that the release publishes." },
  );
}

function invalid(file: string, why: string): CausewayError {
  return new CausewayError("PROCESS_DOWNLOADS_INVALID", `${file}: ${why}`, {
    hint: 'It is {"v1.34.4": {"kube-apiserver": {"url": "https://…", "sha256": "…"}, …}}.',
  });
}
