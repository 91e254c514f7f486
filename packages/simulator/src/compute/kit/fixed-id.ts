/** Ids of what is no row of a table: the same at every start. */
export const fixedId = (kind: number, number: number): string =>
  `00000000-0000-4000-8${String(kind).padStart(3, "0")}-${String(number).padStart(12, "0")}`;
