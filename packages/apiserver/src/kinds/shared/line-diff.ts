const CONTEXT = 3;

interface Line {
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

/** The unified diff of two texts of lines, with three lines around each change; "" when they are the same. */
export function lineDiff(before: readonly string[], after: readonly string[]): string {
  const lines = aligned(before, after);
  const isNear = lines.map((_, i) =>
    lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(({ mark }) => mark !== " "),
  );
  const counted = { before: 0, after: 0 };
  let text = "";
  for (let i = 0; i < lines.length;) {
    let end = i;
    while (end < lines.length && isNear[end] === isNear[i]) end += 1;
    const part = lines.slice(i, end);
    const [old, fresh] = [part.filter((l) => l.mark !== "+").length, part.filter((l) => l.mark !== "-").length];
    if (isNear[i]) {
      text += `@@ -${range(counted.before, old)} +${range(counted.after, fresh)} @@\n`;
      text += part.map((line) => `${line.mark}${line.text}\n`).join("");
    }
    counted.before += old;
    counted.after += fresh;
    i = end;
  }
  return text;
}

function range(passed: number, length: number): string {
  if (length === 1) return String(passed + 1);
  return `${length === 0 ? passed : passed + 1},${length}`;
}

/** Both texts as one, along their longest common subsequence; of a change, what goes comes first. */
function aligned(before: readonly string[], after: readonly string[]): Line[] {
  const common = Array.from({ length: before.length + 1 }, () => Array.from({ length: after.length + 1 }, () => 0));
  const length = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const row = common[i] ?? [];
      row[j] = before[i] === after[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old = "", fresh = ""] = [before[i], after[j]];
    if (i < before.length && j < after.length && old === fresh) {
      lines.push({ mark: " ", text: old });
      i += 1;
      j += 1;
    } else if (i < before.length && (j === after.length || length(i + 1, j) >= length(i, j + 1))) {
      lines.push({ mark: "-", text: old });
      i += 1;
    } else {
      lines.push({ mark: "+", text: fresh });
      j += 1;
    }
  }
  return lines;
}
