/** Templates come from users who may write a ClusterClass: what one may hold, and what rendering it may take. */
export const TEMPLATE_LENGTH = 10_240;
/** How deep actions, pipelines and templates may be nested. */
export const TEMPLATE_DEPTH = 32;
/** Characters of the output, and of each text that a function makes. */
export const RENDERED_LENGTH = 262_144;
/** What all nodes, calls and texts of one rendering may cost together. */
export const RENDERING_STEPS = 100_000;

/** What rendering has used so far. */
export class Meter {
  #left = RENDERING_STEPS;

  /** @throws Error when the template takes more than it may */
  spend(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0) throw new Error(`the template takes more than ${RENDERING_STEPS} steps`);
  }

  /** A text that a function has made, or will make. */
  text(length: number): void {
    if (length > RENDERED_LENGTH)
      throw new Error(`the template makes a text of more than ${RENDERED_LENGTH} characters`);
    this.spend(length / 256);
  }
}
