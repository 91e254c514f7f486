import type { IncomingHttpHeaders } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { createAuthority, issueCertificate } from "@causeway/foundation";

export interface TestRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A status, with the text of the body. */
export type TestResponse = readonly [status: number, body: string];

export interface TestListener {
  readonly url: string;
  /** Whom to trust, PEM. */
  readonly ca: string;
  readonly asked: TestRequest[];
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
  const server: Server = createServer({ cert: certificate, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { url: path = "", method = "", headers } = request;
      const asked = { path, method, headers, body: Buffer.concat(chunks).toString() };
      listener.asked.push(asked);
      const given = listener.answer(asked);
      if (!given) return;
      response.statusCode = given[0];
      response.end(given[1]);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const listener: TestListener = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: authority.certificate,
    asked: [],
    answer: () => [200, "{}"],
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return listener;
}
