type Labels = Readonly<Record<string, string>>;

/** How labels differ from those of the template or cluster that they come from, as clients show it. */
export interface LabelDifferences {
  /** Other value than the parent's: the parent's value. */
  readonly labels_overridden: Labels;
  /** Not in the parent. */
  readonly labels_added: Labels;
  /** Only in the parent. */
  readonly labels_skipped: Labels;
}

/** Compares labels with those of their parent: all three parts are empty when both are equal. */
export function labelDifferences(parent: Labels, labels: Labels): LabelDifferences {
  const pick = (from: Labels, wanted: (key: string) => boolean): Labels =>
    Object.fromEntries(Object.entries(from).filter(([key]) => wanted(key)));
  return {
    labels_overridden: pick(parent, (key) => Object.hasOwn(labels, key) && labels[key] !== parent[key]),
    labels_added: pick(labels, (key) => !Object.hasOwn(parent, key)),
    labels_skipped: pick(parent, (key) => !Object.hasOwn(labels, key)),
  };
}
