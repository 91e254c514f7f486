/** `npm run pack`: writes the tarballs that can be published to .build/tarballs, and prints their paths. */
import { resolve } from "node:path";
import { packAll } from "./pack.ts";

const root = resolve(import.meta.dirname, "../..");
for (const { tarball } of packAll(root, resolve(root, ".build/tarballs"))) console.log(tarball);
