"""What agents' harnesses call at the end of every turn: standard library only, next to nothing imported."""
