/** Shows how long a phase took, and which of its lines took longer than a second. */
export function startLaps(): { line(text: string): void; end(name: string): void } {
  const laps: { text: string; at: number }[] = [{ text: "begin", at: performance.now() }];
  const seconds = (from: number, to: number): string => ((to - from) / 1000).toFixed(1);
  return {
    line: (text) => void laps.push({ text, at: performance.now() }),
    end(name) {
      const now = performance.now();
      const slow = laps
        .map(({ text, at }, index) => ({ text, took: (laps[index + 1]?.at ?? now) - at }))
        .filter(({ took }) => took > 1_000)
        .map(({ text, took }) => `\n  ${(took / 1000).toFixed(1)} s ${text}`);
      console.log(`${name}: ${laps.length - 1} lines, ${seconds(laps[0]?.at ?? now, now)} s${slow.join("")}`);
    },
  };
}
