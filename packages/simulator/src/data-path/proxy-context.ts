import type { Socket } from "node:net";
import type { SecureContextOptions } from "node:tls";
import type { AddressTable } from "./addresses.ts";
import type { PoolMemory } from "./balance.ts";
import type { ClientConnection } from "./connect-member.ts";
import type { Backend, Frontend } from "./model.ts";

/** What the proxies of a listener need of the data path. */
export interface ProxyContext {
  readonly table: AddressTable;
  /** As it is now; undefined: the listener is gone or disabled. */
  frontend(): Frontend | undefined;
  memory(pool: string): PoolMemory;
  /** The client's address in the cloud. */
  source(socket: Socket): string;
  client(socket: Socket, frontend: Frontend): ClientConnection;
  memberTls(pool: Backend): SecureContextOptions | undefined;
  /** Passes bytes on both ways until one side ends. */
  join(client: Socket, member: Socket): void;
}

/** Passes bytes both ways. The end of one side's stream ends the other's; its error or close destroys the other. */
export function joinSockets(client: Socket, member: Socket): void {
  for (const [from, to] of [
    [client, member],
    [member, client],
  ] as const) {
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
    from.pipe(to);
  }
}
