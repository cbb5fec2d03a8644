import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Collector } from '../../application/ports/process-insight.ts';

/**
 * Controls V8's garbage collector by its flag `--heap-growing-percent`. Like Go's GOGC, it is the growth of the heap,
 * in percent of the live heap, after which the next collection starts. V8 reads the flag at each collection, so a
 * change has effect at once. 0: V8 decides.
 */
export function createCollector(): Collector {
  let percent = 0;
  return {
    growth: () => percent,
    setGrowth(wanted) {
      setFlagsFromString(`--heap-growing-percent=${String(wanted)}`);
      percent = wanted;
    },
    heap() {
      const { total_heap_size, used_heap_size, heap_size_limit, external_memory, malloced_memory } =
        getHeapStatistics();
      return {
        total: total_heap_size,
        used: used_heap_size,
        limit: heap_size_limit,
        external: external_memory,
        malloced: malloced_memory,
        resident: process.memoryUsage.rss(),
      };
    },
  };
}
