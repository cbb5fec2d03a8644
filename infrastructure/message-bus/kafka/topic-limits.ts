import type { Admin, ConfigResourceTypes } from 'kafkajs';

const LIMIT = 'max.message.bytes';

/** Reads the maximum size of a batch of each topic, in bytes. `type`: the resource type of a topic. */
export async function readTopicLimits(
  { topics, type }: { readonly topics: readonly string[]; readonly type: ConfigResourceTypes },
  { admin }: { readonly admin: Admin },
): Promise<ReadonlyMap<string, number>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type, name, configNames: [LIMIT] })),
  });
  const limits = new Map<string, number>();
  for (const { resourceName, configEntries } of resources) {
    const limit = Number(configEntries.find(({ configName }) => configName === LIMIT)?.configValue);
    if (limit > 0) limits.set(resourceName, limit);
  }
  return limits;
}
