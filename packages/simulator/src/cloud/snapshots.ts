import type { Hono, HonoRequest } from "hono";
import { identityTables } from "../identity/model.ts";
import { at, bodyOf } from "../kernel/json.ts";
import type { OwnedKernel } from "../kernel/kernel.ts";
import { ServiceError } from "../kernel/service-error.ts";
import type { Snapshot } from "../kernel/snapshot.ts";

/** So many are kept; who needs more than one for each kind of test has forgotten to delete them. */
const MOST = 32;
/** A century: the clock of a test needs no more. */
const LONGEST = 100 * 365 * 24 * 3600;
const NAME = /^[\w.-]{1,64}$/;

/** Snapshots by name, in memory; they end with the process. */
export class Snapshots {
  readonly #kernel: OwnedKernel;
  readonly #kept = new Map<string, Snapshot>();

  constructor(kernel: OwnedKernel) {
    this.#kernel = kernel;
  }

  take(name: string): void {
    if (!this.#kept.has(name) && this.#kept.size >= MOST) {
      throw new RangeError(`There are ${MOST} snapshots already. Delete one.`);
    }
    this.#kept.set(name, this.#kernel.snapshot());
  }

  /**
   * False: there is none of that name. Tokens that were issued since remain valid while their user and project are
   * there.
   */
  restore(name: string): boolean {
    const snapshot = this.#kept.get(name);
    if (snapshot === undefined) return false;
    const { tokens, users, projects } = identityTables(this.#kernel);
    this.#kernel.restore(snapshot, ["_token"]);
    for (const token of tokens.all()) {
      const scoped = token.project_id === undefined || projects.get(token.project_id);
      if (!users.get(token.user_id) || !scoped) tokens.remove(token.id);
    }
    this.#kernel.flush();
    return true;
  }

  delete(name: string): boolean {
    return this.#kept.delete(name);
  }

  list(): { name: string; at: string; objects: number }[] {
    return [...this.#kept].map(([name, snapshot]) => ({
      name,
      at: new Date(snapshot.at).toISOString(),
      objects: [...snapshot.rows].reduce((sum, [table, rows]) => sum + (table.startsWith("_") ? 0 : rows.length), 0),
    }));
  }
}

const refuse = (status: 400 | 404 | 409, message: string) =>
  new ServiceError(status, { error: { code: status, title: "Refused", message } });

/** `snapshots`, and `clock`. */
export function mountState(app: Hono, kernel: OwnedKernel, snapshots: Snapshots): void {
  const named = async (request: HonoRequest): Promise<string> => {
    const name = at(await bodyOf(request), "name");
    if (typeof name !== "string" || !NAME.test(name))
      throw refuse(400, 'Send {"name": "base"}: 64 of [A-Za-z0-9_.-] at most.');
    return name;
  };
  const all = () => ({ snapshots: snapshots.list() });
  const there = (found: boolean, name: string) => {
    if (!found) throw refuse(404, `There is no snapshot "${name}"; GET /_control/snapshots lists them.`);
  };
  app.get("/snapshots", (c) => c.json(all()));
  app.post("/snapshots", async (c) => {
    const name = await named(c.req);
    try {
      snapshots.take(name);
    } catch (error) {
      throw error instanceof RangeError ? refuse(409, error.message) : error;
    }
    return c.json(all());
  });
  app.post("/snapshots/restore", async (c) => {
    const name = await named(c.req);
    there(snapshots.restore(name), name);
    return c.json(all());
  });
  app.post("/snapshots/delete", async (c) => {
    const name = await named(c.req);
    there(snapshots.delete(name), name);
    return c.json(all());
  });
  const now = () => ({ now: new Date(kernel.clock.now()).toISOString() });
  app.get("/clock", (c) => c.json(now()));
  app.post("/clock", async (c) => {
    const seconds = at(await bodyOf(c.req), "advance");
    if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= LONGEST)) {
      throw refuse(400, 'Send {"advance": 3600}: seconds, 0 to a century.');
    }
    kernel.advance(seconds * 1000);
    return c.json(now());
  });
}
