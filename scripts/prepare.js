/*
 * What `npm ci` runs: makes the bundle. JavaScript that any Node reads, so that an old one gets a sentence.
 */
const [major = 0] = process.versions.node.split(".").map(Number);
if (major < 26) {
  console.error(
    `Causeway needs Node 26 or later, and this is Node ${process.versions.node}: ` +
      "install without --omit=optional, which brings one, or put a newer Node first on PATH.",
  );
  process.exit(1);
}
await import("./bundle.ts");
