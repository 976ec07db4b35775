
set edit:completion:arg-completer[kubectl-fleet-stage] = { |@words|
    var index = (count $words)
    set index = (- $index 1)

    put (env _CLAP_IFS="\n" _CLAP_COMPLETE_INDEX=(to-string $index) FLEET_STAGE_COMPLETE="elvish" kubectl-fleet-stage -- $@words) | to-lines
}
