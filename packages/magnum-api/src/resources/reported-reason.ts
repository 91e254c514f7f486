type Reason = Readonly<Record<string, string>>;

/** Bytes of names and texts together. */
const LONGEST = 16 * 1024;
const ELLIPSIS = "…";

/** The reason of a health that a program outside reports, as far as it is kept: the text that is too long is cut. */
export function cutReason(reason: Reason): Reason {
  const kept: Record<string, string> = {};
  let left = LONGEST;
  for (const [name, text] of Object.entries(reason)) {
    const room = left - Buffer.byteLength(name);
    const shown = cutText(text, room);
    if (shown === undefined) break;
    kept[name] = shown;
    left = room - Buffer.byteLength(shown);
    if (shown !== text) break;
  }
  return kept;
}

/** Undefined: not even the sign that it was cut has room. */
function cutText(text: string, bytes: number): string | undefined {
  if (Buffer.byteLength(text) <= bytes) return text;
  const room = bytes - Buffer.byteLength(ELLIPSIS);
  if (room < 0) return undefined;
  // A character that is only partly within the bytes goes.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(room));
  return text.slice(0, read) + ELLIPSIS;
}
