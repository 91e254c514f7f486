/** Bytes at most, and milliseconds that a download may take. */
const [LARGEST, DEADLINE] = [256 * 1024 * 1024, 120_000];
const [FIRST_FREE_PORT, usual] = [1024, [80, 443]];

/**
 * True if images may be fetched from there. As Glance's default configuration: http and https, at their own ports. On
 * this machine's loopback, also at any port that is no system service's, so that tests need no internet.
 */
export function passesFilter(uri: string | undefined): boolean {
  const url = URL.canParse(uri ?? "") ? new URL(uri ?? "") : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol) || url.hostname === "") return false;
  const port = Number(url.port);
  return url.port === "" || usual.includes(port) || (isLoopback(url.hostname) && port >= FIRST_FREE_PORT);
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);

/** The bytes at a URL. Throws for a refusal, a broken transfer, too many bytes, and what takes too long. */
export async function download(url: string): Promise<Buffer> {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(DEADLINE),
    headers: { "accept-encoding": "identity" },
  });
  if (!response.ok) throw new Error(`HTTP Error ${response.status}: ${response.statusText}`);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > LARGEST) throw new Error(`more than ${LARGEST} bytes`);
    parts.push(part);
  }
  const promised = response.headers.get("content-length");
  if (promised !== null && Number(promised) !== size) throw new Error(`${size} bytes came of ${promised}`);
  return Buffer.concat(parts);
}
