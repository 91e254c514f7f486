/**
 * `npm run image`: builds the container image into .build/image and prints its digest. Needs Debian and its package
 * registry.
 */
import { resolve } from "node:path";
import { buildImage } from "./build.ts";

const root = resolve(import.meta.dirname, "../..");
const { layout, sbom, digest } = buildImage(root, resolve(root, ".build/image"));
console.log(`${digest}\n  layout ${layout}\n  sbom   ${sbom}`);
