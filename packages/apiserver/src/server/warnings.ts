/**
 * Characters that the warnings of one answer may have, and each of them once they have more; as kube-apiserver cuts
 * them.
 */
const MAXIMUM_TOTAL = 4096;
const MAXIMUM_CUT = 256;

/**
 * The warnings of one answer: each once, and cut when they are too long, since clients and HTTP/2 limit what headers
 * may have.
 */
export class Warnings {
  readonly headers: string[] = [];
  readonly #sent = new Set<string>();
  #written = 0;
  #isCut = false;

  /** Whether the headers are others now. */
  add(message: string): boolean {
    if ((this.#isCut && this.#written >= MAXIMUM_TOTAL) || message === "" || this.#sent.has(message)) return false;
    this.#sent.add(message);
    if (!this.#isCut && this.#written + charactersOf(message) > MAXIMUM_TOTAL) {
      this.#isCut = true;
      this.#written = 0;
      this.headers.length = 0;
      for (const sent of this.#sent) this.#write(sent);
    } else this.#write(message);
    return true;
  }

  #write(message: string): void {
    const text = this.#isCut ? cut(message) : message;
    this.#written += charactersOf(text);
    this.headers.push(warningHeader(text));
  }
}

function charactersOf(text: string): number {
  // Those of a text that is too long in any case are not counted.
  return text.length > 2 * MAXIMUM_TOTAL ? text.length : Array.from(text).length;
}

function cut(text: string): string {
  return Array.from(text.slice(0, 2 * MAXIMUM_CUT))
    .slice(0, MAXIMUM_CUT)
    .join("");
}

/** A Warning header as RFC 7234 and Kubernetes write it. */
function warningHeader(message: string): string {
  return `299 - "${message
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll(/[\r\n]+/g, " ")}"`;
}
