import { expect } from 'chai';
import { v7 } from 'uuid';
import { foldStream } from '../../../application/fold-stream.ts';
import { configureFeature } from '../../../application/platform/configure-feature.ts';
import { createFeatureSettings } from '../../../application/platform/feature-settings.ts';
import type { CommandContext } from '../../../domain/context.ts';
import { featureConfigurationEvents } from '../../../domain/platform/feature-configuration-events.ts';
import { featureConfigurationDecider } from '../../../domain/platform/feature-configuration.ts';
import type { FeatureSetting } from '../../../domain/platform/features.ts';
import { createVault } from '../../../infrastructure/crypto/vault.ts';
import { openMemoryEventStore } from '../../../infrastructure/event-store/memory/memory-event-store.ts';
import { useDatabase } from '../../support/database.ts';

const STREAM = 'settings-default.feature.captcha';
const declared: Readonly<Record<string, FeatureSetting>> = {
  site: { description: 'Public key', schema: { type: 'string' }, fallback: '' },
  key: { description: 'Private key', schema: { type: 'string' }, fallback: '', secret: true },
  level: { description: 'How hard', schema: { type: 'integer' }, fallback: 3, variable: 'CAPTCHA_LEVEL' },
};

describe('secrets among the settings of a feature', () => {
  const database = useDatabase();
  const eventStore = openMemoryEventStore();
  after(() => eventStore.close());
  let saved = featureConfigurationDecider.initialState();
  const context: CommandContext = {
    tenant: 'acme',
    actor: { kind: 'user', id: 'u' },
    correlationId: 'c',
    causationId: 'c',
    now: () => new Date(),
    newId: v7,
  };

  async function reload(): Promise<void> {
    const { state } = await foldStream(
      { stream: STREAM, decider: featureConfigurationDecider, parse: featureConfigurationEvents.parse },
      { eventStore },
    );
    saved = state;
  }
  function openSettings() {
    const vault = createVault({ database: database.db(), encryptionKey: '0b9d4c6e8f7a41253c6b8d9e0f1a2b3c' });
    const settings = createFeatureSettings({
      features: { saved: () => saved },
      vault,
      declared: () => declared,
      startupValue: (variable) =>
        variable === 'CAPTCHA_LEVEL' ? { value: 5, source: 'default', fixed: false } : undefined,
    });
    const dependencies = {
      eventStore,
      vault,
      settings,
      features: { reload },
      progress: { waitFor: () => Promise.resolve(true) },
    };
    return {
      settings,
      save: (configuration: Parameters<typeof configureFeature>[0]['configuration']) =>
        configureFeature({ feature: 'captcha', configuration }, context, dependencies),
    };
  }

  it('are sealed in the event, shown as ********, kept when ******** is saved, and opened for their feature only', async () => {
    const { settings, save } = openSettings();
    expect(settings.view('captcha')).to.deep.equal({
      config: { site: '', key: '', level: 5 },
      sources: { site: 'default', key: 'default', level: 'default' },
    });
    await save({ site: 'public', key: 'hunter2-hunter2' });
    const stored: string[] = [];
    for await (const event of eventStore.readStream(STREAM)) stored.push(JSON.stringify(event));
    expect(stored.join()).to.contain('public').and.not.to.contain('hunter2');
    expect(settings.view('captcha')).to.deep.equal({
      config: { site: 'public', key: '********', level: 5 },
      sources: { site: 'console', key: 'console', level: 'default' },
    });
    expect(settings.secret('captcha', 'key')).to.equal('hunter2-hunter2');
    expect(await save({ key: '********' })).to.equal(undefined);
    expect(settings.secret('captcha', 'key')).to.equal('hunter2-hunter2');
    expect(() => settings.secret('email', 'key')).to.throw();
  });

  it('are removed by an empty text and by null', async () => {
    const { settings, save } = openSettings();
    await save({ key: '' });
    expect(settings.view('captcha').config).to.deep.include({ site: 'public', key: '' });
    expect(settings.secret('captcha', 'key')).to.equal(undefined);
    await save({ key: 'again-again', level: 9 });
    expect(settings.value('captcha', 'level')).to.equal(9);
    await save({ key: null, level: null });
    expect(settings.view('captcha').config).to.deep.include({ key: '', level: 5 });
  });
});
