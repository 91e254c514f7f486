/** How a list is shortened. */
export interface ShortList {
  /** Between two entries, ", " unless set. The rest follows any other one too: `a; b; and 3 more`. */
  readonly separator?: string;
  /** How many there are, where the list is shortened already. */
  readonly total?: number;
  /** The list is not complete: `a, b and at least 3 more`. */
  readonly isPartial?: boolean;
}

/** The first `most` entries, then a line with the number of the others: `and 3 more`. */
export function shortened(
  entries: readonly string[],
  most: number,
  { total = entries.length, isPartial = false }: Omit<ShortList, "separator"> = {},
): string[] {
  const shown = entries.slice(0, most);
  const rest = total - shown.length;
  return rest > 0 ? [...shown, `and ${isPartial ? "at least " : ""}${rest} more`] : shown;
}

/** The first `most` names, and the number of the others: `a, b and 3 more`. */
export function shortList(names: readonly string[], most: number, options: ShortList = {}): string {
  const { separator = ", " } = options;
  const shown = names.slice(0, most);
  const [rest] = shortened(names, most, options).slice(shown.length);
  const text = shown.join(separator);
  if (rest === undefined) return text;
  if (shown.length === 0) return rest.slice("and ".length);
  return separator === ", " ? `${text} ${rest}` : `${text}${separator}${rest}`;
}
