import { rmSync } from "node:fs";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { CausewayError, fitsUnixSocket, messageOf, type Log } from "@causeway/foundation";

const LONGEST_BODY = 16 * 1024;
const LONGEST_ANSWER = 64 * 1024;

/** The socket of a running program in its state folder, which only its user may enter. */
function socketOf(dir: string): string {
  return join(dir, "admin.sock");
}

/** What a program does for commands on the same machine: each takes and gives plain JSON. */
export type AdminCalls = Readonly<Record<string, (body: Readonly<Record<string, unknown>>) => Promise<unknown>>>;

/**
 * Serves calls at the state folder's socket until the result is called. A path that is too long is logged, and not
 * served.
 */
export async function serveAdmin(dir: string, calls: AdminCalls, log: Log): Promise<() => Promise<void>> {
  const path = socketOf(dir);
  if (!fitsUnixSocket(path)) {
    log.warn(
      "the state folder's path is too long for a socket: causeway backup works only while this program is stopped",
      { path },
    );
    return async () => {};
  }
  // The state folder is locked: what is left here is of a program that was killed.
  rmSync(path, { force: true });
  const server = createServer((incoming, response) => void respond(calls, incoming, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
}

async function respond(calls: AdminCalls, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const call = calls[(incoming.url ?? "").slice(1)];
    if (!call || incoming.method !== "POST") return void response.writeHead(404).end();
    const body = JSON.parse(await textOf(incoming, LONGEST_BODY)) as Record<string, unknown>;
    response.end(JSON.stringify(await call(body)));
  } catch (error) {
    const known = error instanceof CausewayError ? { code: error.code, hint: error.hint } : {};
    response.writeHead(500).end(JSON.stringify({ message: messageOf(error), ...known }));
  }
}

async function textOf(stream: IncomingMessage, longest: number): Promise<string> {
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > longest) throw new CausewayError("ADMIN_CALL_FAILED", "the message is too long");
  }
  return text;
}

/**
 * Calls the program that runs on a state folder; undefined when none runs.
 * @throws ADMIN_CALL_FAILED, and what the call itself reports
 */
export async function callAdmin(dir: string, name: string, body: object, signal: AbortSignal): Promise<unknown> {
  const answer = await new Promise<IncomingMessage | undefined>((resolve, reject) => {
    const call = request({ socketPath: socketOf(dir), method: "POST", path: `/${name}`, signal }, resolve);
    call.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ECONNREFUSED") resolve(undefined);
      else reject(error);
    });
    call.end(JSON.stringify(body));
  });
  if (!answer) return undefined;
  const said = JSON.parse((await textOf(answer, LONGEST_ANSWER)) || "{}") as Readonly<Record<string, unknown>>;
  if (answer.statusCode === 200) return said;
  const { code = "ADMIN_CALL_FAILED", message = `the program responded with status ${answer.statusCode}`, hint } = said;
  throw new CausewayError(String(code), String(message), typeof hint === "string" ? { hint } : {});
}
