import type { Socket } from "node:net";
import { connectMember } from "./connect-member.ts";
import type { ProxyContext } from "./proxy-context.ts";
import { beginSession, sessionMember } from "./sessions.ts";

/**
 * Passes a connection on to a member of the listener's default pool. A policy needs HTTP; without a member the
 * connection is closed.
 */
export async function serveTcp(context: ProxyContext, client: Socket): Promise<void> {
  client.on("error", () => {});
  const frontend = context.frontend();
  const pool = frontend?.defaultPool;
  if (!frontend || !pool) return void client.destroy();
  const source = context.source(client);
  const memory = context.memory(pool.id);
  const connected = await connectMember({
    pool,
    memory,
    table: context.table,
    preferred: sessionMember(pool, memory, { source, request: undefined }),
    client: context.client(client, frontend),
    timeout: frontend.connectTimeout,
    tls: context.memberTls(pool),
  });
  if (!connected || client.destroyed) {
    connected?.socket.destroy();
    return void client.destroy();
  }
  beginSession(pool, memory, { source, member: connected.member });
  client.setTimeout(frontend.clientTimeout, () => client.destroy());
  connected.socket.setTimeout(frontend.memberTimeout, () => connected.socket.destroy());
  context.join(client, connected.socket);
}
