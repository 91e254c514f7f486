import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";

/** Where the suites download images from. */
const INTERNET =
  /https:\/\/github\.com\/k-orc\/openstack-resource-controller\/raw\/[0-9a-f]+\/internal\/controllers\/image\/testdata/g;

export interface ImageServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Serves the images of the module's own test data on loopback. */
export async function serveImages(module: string): Promise<ImageServer> {
  const folder = join(module, "internal/controllers/image/testdata");
  const server: Server = createServer((request, response) => {
    const file = join(folder, basename(request.url ?? ""));
    if (existsSync(file) && basename(file) !== "") response.end(readFileSync(file));
    else response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => new Promise((done) => server.close(() => done())) };
}

/** Copies the suite of one controller, with the images of another address. */
export function copySuite(module: string, controller: string, to: { dir: string; images: string }): string {
  const target = join(to.dir, controller, "tests");
  mkdirSync(target, { recursive: true });
  cpSync(join(module, "internal/controllers", controller, "tests"), target, { recursive: true, mode: 0 });
  for (const file of globSync(join(target, "**/*.yaml"))) {
    const text = readFileSync(file, "utf8");
    if (!INTERNET.test(text)) continue;
    writeFileSync(file, text.replaceAll(INTERNET, to.images));
  }
  return target;
}
