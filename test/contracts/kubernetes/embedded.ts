import { startApiServer } from "@causeway/apiserver";
import type { Target } from "./interface.ts";

/** Our own API server, all in memory. */
export async function startEmbedded(): Promise<Target> {
  const server = await startApiServer();
  const { url, authority } = server.management;
  return { name: "causeway", url, ca: authority.certificate, authority, close: () => server.close() };
}
