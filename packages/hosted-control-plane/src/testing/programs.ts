import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Programs in place of Kubernetes' own, for tests of how they are run: the API server serves /readyz over TLS with the
 * certificate of its flags and the version of its folder, has no objects, and accepts every write; the others only
 * run. A file
 * NAME.crash next to a program ends it at its start.
 */
export function installPrograms(folder: string, version: string): void {
  const dir = join(folder, version);
  mkdirSync(dir, { recursive: true });
  for (const name of ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]) {
    const file = join(dir, name);
    writeFileSync(file, `#!${process.execPath}\n${source(name, version)}`);
    chmodSync(file, 0o755);
  }
}

function source(name: string, version: string): string {
  const head = `const fs = require("fs"), path = require("path");
const flags = Object.fromEntries(process.argv.slice(2).map((arg) => arg.replace(/^--/, "").split(/=(.*)/s).slice(0, 2)));
fs.appendFileSync(path.join(path.dirname(process.argv[1]), "starts"), ${JSON.stringify(name)} + "\\n");
if (fs.existsSync(process.argv[1] + ".crash")) { console.error("Error: the disk is full"); process.exit(1); }
process.on("SIGTERM", () => { fs.appendFileSync(path.join(path.dirname(process.argv[1]), "ends"), ${JSON.stringify(name)} + "\\n"); process.exit(0); });
`;
  if (name !== "kube-apiserver") return `${head}setInterval(() => {}, 1000);\n`;
  return `${head}const server = require("https").createServer({ cert: fs.readFileSync(flags["tls-cert-file"]), key: fs.readFileSync(flags["tls-private-key-file"]) },
  (request, response) => {
    if (request.url.startsWith("/readyz")) return response.end(${JSON.stringify(version)});
    // It has no objects, so that what is needed is written.
    if (request.method === "GET") {
      response.writeHead(404, { "content-type": "application/json" });
      return response.end(JSON.stringify({ apiVersion: "v1", kind: "Status", status: "Failure", reason: "NotFound", code: 404 }));
    }
    // A write returns what was written.
    response.writeHead(201, { "content-type": "application/json" });
    request.pipe(response);
  });
server.listen(Number(flags["secure-port"]), flags["bind-address"]);
`;
}
