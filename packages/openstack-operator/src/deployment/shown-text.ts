import { redacted } from "@causeway/openstack";

/** Longest text of another program that a status or an event has. */
const LONGEST = 400;
/** More of a text is not read: its secrets are replaced before it is cut. */
const MOST_READ = 16_384;
/** What changes how a terminal or a page shows the text around it: control, format and line separators. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
/** User and password of a URL. */
const USER = /(:\/\/)[^\s/@]{1,512}@/gu;

/**
 * What a program of a pod, or the kubelet, said, as a status may have it: one line, no longer than 400 characters,
 * without passwords of URLs, and without the given secrets.
 */
export function shownText(text: string, secrets: readonly string[] = []): string {
  const read = redacted(text.slice(0, MOST_READ), secrets).toWellFormed();
  const line = redacted(read.replaceAll(UNSEEN, " "), secrets).replaceAll(/ {2,}/g, " ").trim();
  const shown = line.replaceAll(USER, "$1[redacted]@");
  if (shown.length <= LONGEST) return shown;
  return `${shown.slice(0, LONGEST - 1).replace(/[\uD800-\uDBFF]$/u, "")}…`;
}
