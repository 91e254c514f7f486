/** 34 for "v1.34" and "v1.34.2". */
export function minorNumber(version: string): number {
  return Number(/^v\d+\.(\d+)/.exec(version)?.[1] ?? Number.NaN);
}
