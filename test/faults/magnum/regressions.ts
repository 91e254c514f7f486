import type { Deletion, Schedule } from "./schedule.ts";

/** Undisturbed, once all is complete. */
const progressing = (...moves: readonly number[]): Deletion => ({
  isRacing: false,
  misfortunes: [],
  deeds: moves.map((which) => ({ deed: { do: "progress", which }, pause: 0 })),
});

/** Schedules of seed 11 that ended badly once, by their numbers. */
export const regressions: Readonly<Record<string, Schedule>> = {
  "1053": {
    hasTrustees: false,
    isUnled: false,
    nodes: 0,
    deeds: [
      {
        deed: {
          do: "fail",
        },
        pause: 0,
      },
      {
        deed: {
          do: "group",
        },
        pause: 0,
      },
      {
        deed: {
          do: "group",
        },
        pause: 0,
      },
      {
        deed: {
          do: "group",
        },
        pause: 0,
      },
      {
        deed: {
          do: "progress",
          which: 10,
        },
        pause: 2,
      },
      {
        deed: {
          do: "progress",
          which: 4,
        },
        pause: 10,
      },
      {
        deed: {
          do: "progress",
          which: 20,
        },
        pause: 10,
      },
      {
        deed: {
          do: "progress",
          which: 18,
        },
        pause: 0,
      },
      {
        deed: {
          do: "recover",
        },
        pause: 0,
      },
      {
        deed: {
          do: "progress",
          which: 12,
        },
        pause: 0,
      },
      {
        deed: {
          do: "progress",
          which: 4,
        },
        pause: 0,
      },
      {
        deed: {
          do: "upgrade",
        },
        pause: 0,
      },
      {
        deed: {
          do: "progress",
          which: 7,
        },
        pause: 0,
      },
      {
        deed: {
          do: "progress",
          which: 11,
        },
        pause: 0,
      },
    ],
    misfortunes: [
      {
        write: 37,
        what: "lost",
      },
      {
        write: 1,
        what: "lost",
      },
      {
        write: 19,
        what: "lost",
      },
      {
        write: 5,
        what: "lost",
      },
    ],
    rotation: {
      crashes: [10, 3, 5],
    },
    deletion: progressing(3, 9, 5, 17, 13, 12),
  },
  "1127": {
    hasTrustees: false,
    isUnled: false,
    nodes: 3,
    deeds: [
      {
        deed: {
          do: "resize",
          nodes: 3,
        },
        pause: 0,
      },
      {
        deed: {
          do: "fail",
        },
        pause: 2,
      },
      {
        deed: {
          do: "progress",
          which: 3,
        },
        pause: 2,
      },
      {
        deed: {
          do: "progress",
          which: 10,
        },
        pause: 0,
      },
      {
        deed: {
          do: "crash",
        },
        pause: 0,
      },
      {
        deed: {
          do: "progress",
          which: 11,
        },
        pause: 10,
      },
      {
        deed: {
          do: "progress",
          which: 9,
        },
        pause: 10,
      },
      {
        deed: {
          do: "progress",
          which: 2,
        },
        pause: 0,
      },
      {
        deed: {
          do: "progress",
          which: 7,
        },
        pause: 10,
      },
      {
        deed: {
          do: "resize",
          nodes: 1,
        },
        pause: 0,
      },
      {
        deed: {
          do: "ungroup",
        },
        pause: 0,
      },
      {
        deed: {
          do: "ungroup",
        },
        pause: 0,
      },
      {
        deed: {
          do: "group",
        },
        pause: 0,
      },
      {
        deed: {
          do: "resize",
          nodes: 2,
        },
        pause: 10,
      },
    ],
    misfortunes: [
      {
        write: 21,
        what: "lost",
      },
      {
        write: 33,
        what: "refused",
      },
      {
        write: 4,
        what: "refused",
      },
      {
        write: 3,
        what: "lost",
      },
    ],
    deletion: progressing(5),
  },
  "1647": {
    hasTrustees: false,
    isUnled: false,
    nodes: 2,
    deeds: [
      {
        deed: {
          do: "progress",
          which: 19,
        },
        pause: 0,
      },
      {
        deed: {
          do: "group",
        },
        pause: 0,
      },
      {
        deed: {
          do: "resize",
          nodes: 3,
        },
        pause: 2,
      },
      {
        deed: {
          do: "progress",
          which: 18,
        },
        pause: 0,
      },
      {
        deed: {
          do: "progress",
          which: 8,
        },
        pause: 0,
      },
      {
        deed: {
          do: "resize",
          nodes: 3,
        },
        pause: 2,
      },
      {
        deed: {
          do: "recover",
        },
        pause: 2,
      },
      {
        deed: {
          do: "progress",
          which: 18,
        },
        pause: 10,
      },
      {
        deed: {
          do: "upgrade",
        },
        pause: 0,
      },
      {
        deed: {
          do: "progress",
          which: 3,
        },
        pause: 10,
      },
      {
        deed: {
          do: "resize",
          nodes: 2,
        },
        pause: 2,
      },
      {
        deed: {
          do: "resize",
          nodes: 0,
        },
        pause: 2,
      },
      {
        deed: {
          do: "recover",
        },
        pause: 0,
      },
      {
        deed: {
          do: "resize",
          nodes: 1,
        },
        pause: 2,
      },
    ],
    misfortunes: [
      {
        write: 39,
        what: "refused",
      },
      {
        write: 31,
        what: "lost",
      },
      {
        write: 3,
        what: "refused",
      },
      {
        write: 4,
        what: "refused",
      },
    ],
    deletion: progressing(0, 20),
  },
};
