import { connect } from "node:net";
import { createClient, type Client } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { parseEndpoint } from "./endpoint.ts";
import { Controller, GroupController, Identity, Node } from "./protocol.generated.ts";

/** The services of a CSI driver, called over gRPC. */
export interface CsiClient {
  readonly identity: Client<typeof Identity>;
  readonly controller: Client<typeof Controller>;
  readonly groupController: Client<typeof GroupController>;
  readonly node: Client<typeof Node>;
  close(): void;
}

/**
 * Connects at the first call.
 *
 * @example
 * const driver = csiClient("unix:///csi/csi.sock");
 * const { name } = await driver.identity.getPluginInfo({});
 */
export function csiClient(endpoint: string): CsiClient {
  const parsed = parseEndpoint(endpoint);
  const options = parsed.type === "unix" ? { createConnection: () => connect(parsed.path) } : {};
  const baseUrl = parsed.type === "unix" ? "http://localhost" : `http://${parsed.host}:${parsed.port}`;
  const sessionManager = new Http2SessionManager(baseUrl, {}, options);
  const transport = createGrpcTransport({ baseUrl, sessionManager });
  return {
    identity: createClient(Identity, transport),
    controller: createClient(Controller, transport),
    groupController: createClient(GroupController, transport),
    node: createClient(Node, transport),
    close: () => sessionManager.abort(),
  };
}
