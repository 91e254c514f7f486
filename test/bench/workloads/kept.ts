import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { roundedFigures, type Figures, type Row, type Side } from "./rows.ts";
import type { Measured } from "./stage.ts";

type BySide = Partial<Record<Side, Figures>>;
/** As a row is in the file. */
type Stored = BySide & { readonly name: string; readonly controllers?: BySide };

/**
 * The rows of a benchmark, kept in a file after each. Those that the file has remain, so that the sides may run one by
 * one.
 */
export class Kept {
  readonly #rows = new Map<string, { readonly figures: BySide; readonly controllers: BySide }>();
  readonly #file: string | undefined;
  readonly #facts: () => object;

  /** `facts` are stored next to the rows. */
  constructor(file: string | undefined, facts: () => object) {
    this.#file = file;
    this.#facts = facts;
    if (file === undefined || !existsSync(file)) return;
    const { rows } = JSON.parse(readFileSync(file, "utf8")) as { readonly rows: readonly Stored[] };
    for (const { name, controllers = {}, ...figures } of rows) this.#rows.set(name, { figures, controllers });
  }

  add(name: string, side: Side, { figures, controllers }: Measured): void {
    const row = this.#rows.get(name) ?? { figures: {}, controllers: {} };
    row.figures[side] = roundedFigures(figures);
    if (controllers) row.controllers[side] = roundedFigures(controllers);
    this.#rows.set(name, row);
    if (this.#file === undefined) return;
    const rows = this.rows.map((each): Stored => ({ name: each.name, ...each.figures, controllers: each.controllers }));
    writeFileSync(this.#file, `${JSON.stringify({ ...this.#facts(), rows }, null, 2)}\n`);
  }

  get rows(): readonly Row[] {
    return [...this.#rows].map(([name, row]) => ({ name, ...row }));
  }
}
