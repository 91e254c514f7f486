import type { IncomingHttpHeaders } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { createAuthority, issueCertificate } from "@causeway/foundation";

export interface TestRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The name in the client's certificate. */
  readonly client: string | undefined;
}

/**
 * A status, with the text of the body; the connection may end within it, or the response redirect. "switch": the server
 * speaks another protocol from now on. "hints": six informational responses precede it.
 */
export type TestResponse = readonly [
  status: number,
  body: string,
  end?: "cut" | "switch" | "hints" | { readonly location: string },
];

export interface TestListener {
  readonly url: string;
  /** Whom to trust, PEM. */
  readonly ca: string;
  /** The server's own certificate, PEM. */
  readonly certificate: string;
  readonly asked: TestRequest[];
  /** How many connections were opened. */
  readonly connections: () => number;
  /** Decides what is returned; undefined never responds. */
  answer: (asked: TestRequest) => TestResponse | undefined;
  close(): void;
}

/** An HTTPS server on loopback. */
export async function startListener(): Promise<TestListener> {
  const authority = await createAuthority({ commonName: "test authority", lifetime: 86_400_000 });
  const subject = { commonName: "test", ipAddresses: ["127.0.0.1"], dnsNames: ["hook.test"] } as const;
  const { certificate, key } = await issueCertificate(authority, {
    ...subject,
    usages: ["server"],
    lifetime: 86_400_000,
  });
  const tls = { cert: certificate, key };
  let connections = 0;
  const server: Server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { url: path = "", method = "", headers } = request;
      const name = (request.socket as TLSSocket).getPeerCertificate().subject?.CN;
      const client = Array.isArray(name) ? name[0] : name;
      const asked = { path, method, headers, body: Buffer.concat(chunks).toString(), client };
      listener.asked.push(asked);
      const given = listener.answer(asked);
      if (!given) return;
      if (given[2] === "switch")
        return void request.socket.write("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n");
      if (given[2] === "hints") request.socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(6));
      response.statusCode = given[0];
      if (typeof given[2] === "object") response.setHeader("location", given[2].location);
      if (given[2] !== "cut") response.end(given[1]);
      else response.write(given[1], () => request.socket.destroy());
    });
  });
  server.on("secureConnection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const listener: TestListener = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: authority.certificate,
    certificate,
    asked: [],
    connections: () => connections,
    answer: () => [200, "{}"],
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return listener;
}
