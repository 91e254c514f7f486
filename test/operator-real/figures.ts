/**
 * Figures of a run: printed, and appended as a line of JSON to the file that CAUSEWAY_OPERATOR_FIGURES names, for
 * `npm run bench -- openstack-operator --figures FILE`.
 */
import { appendFileSync } from "node:fs";

export type Figures = Readonly<Record<string, number>>;

export function record(name: string, ours: Figures): void {
  const row = JSON.stringify({ name: `real processes: ${name}`, ours });
  console.log(row);
  const file = process.env["CAUSEWAY_OPERATOR_FIGURES"];
  if (file !== undefined) appendFileSync(file, `${row}\n`);
}
