/** Of one project: as many as a client with several workers has, and few enough that no project holds the server up. */
const MOST_OF_PROJECT = 50;
/** Each may hold a body in memory. */
const MOST_TOGETHER = 1_000;

/** A place for one request, which `leave` frees; or whose limit is reached, and what that limit is. */
export type Place = { readonly leave: () => void } | { readonly full: "project" | "server"; readonly limit: number };

/** Counts requests between their token's check and their response, so that one project does not hold up the others. */
export class UnderWay {
  readonly #byProject = new Map<string, number>();
  #all = 0;

  enter(project: string): Place {
    const own = this.#byProject.get(project) ?? 0;
    if (own >= MOST_OF_PROJECT) return { full: "project", limit: MOST_OF_PROJECT };
    if (this.#all >= MOST_TOGETHER) return { full: "server", limit: MOST_TOGETHER };
    this.#byProject.set(project, own + 1);
    this.#all += 1;
    return { leave: () => this.#leave(project) };
  }

  #leave(project: string): void {
    const left = (this.#byProject.get(project) ?? 1) - 1;
    if (left === 0) this.#byProject.delete(project);
    else this.#byProject.set(project, left);
    this.#all -= 1;
  }
}
