import { Hono } from "hono";
import type { Ask } from "../kernel/ask.ts";
import { answerError, type CloudVariables, type Mounted } from "./mount.ts";

/**
 * Lets services call each other without a socket: the caller is authenticated already, and the middleware runs once.
 */
export function serviceClient(mounted: () => readonly Mounted[]): Ask {
  return async (name, { caller, method, path, body }) => {
    const found = mounted().find(({ service }) => service.type === name);
    if (!found) throw new Error(`No service ${name}.`);
    const app = new Hono<{ Variables: CloudVariables }>();
    app.onError((error, c) => answerError(error, c));
    app.use(async (c, next) => {
      c.set("caller", caller);
      await next();
    });
    app.route(found.root, found.service.app);
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { "content-type": "application/json" };
    const answer = await app.request(found.root + path, { method, headers, ...content });
    return { status: answer.status, body: parsed(await answer.text()) };
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
