/**
 * Rows in columns as kubectl prints them: three spaces between, a header in capitals, "" as "<none>" only where the
 * caller says so.
 */
export function columns(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, i) => Math.max(...all.map((row) => (row[i] ?? "").length)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join("   ")
          .trimEnd()}\n`,
    )
    .join("");
}

/** A time span as kubectl prints ages: 45s, 5m, 3h, 12d. */
export function age(since: string | undefined, now: number): string {
  if (since === undefined) return "<unknown>";
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
